#include "client/commands/attempts.hpp"

#include <utility>

#include "client/commands/show_changes.hpp"
#include "client/output/attempts.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

std::string detail_in(const Error& error, const char* name) {
    const auto found = error.details.find(name);
    return found == error.details.end() ? std::string() : found->second;
}

Status show_difference(Context& context, const rpc::TaskCompare& params, const CompareOptions& options) {
    TRY(const auto all, context.call(params));
    TRY(const auto a, output::attempt_named(all, options.two[0]));
    TRY(const auto b, output::attempt_named(all, options.two[1]));
    if (a.id == b.id) {
        return {ErrorCode::invalid_argument, "both names are those of " + printable(a.name) + "; name two attempts"};
    }
    rpc::TaskCompareDiff diff;
    diff.id = all.task.fields.id.value;
    diff.a = a.id;
    diff.b = b.id;
    TRY(const auto reply, context.call_json(diff.k_name, written(diff)));
    if (context.json) return put_json(reply);
    TRY(const auto typed, connection::reply_as<rpc::TaskCompareDiff::Reply>(diff.k_name, reply));
    if (const auto large = output::large_files_text(typed.changes); !large.empty()) {
        output::print_error("orange: " + large + ", because of its size\n");
    }
    if (typed.from == typed.to || typed.changes.files == 0) {
        output::put(printable(a.name) + " and " + printable(b.name) + " have the same files.\n");
        return 0;
    }
    std::vector<std::string> args = {typed.from, typed.to};
    if (options.stat) args.emplace_back("--stat");
    args.emplace_back("--");
    return show_changes(typed.repository, std::move(args));
}

/// Asks whether to pick the attempt. The facts above the question name what ends.
bool is_confirmed(const rpc::TaskCompare::Reply& all, const rpc::ComparedAttempt& attempt) {
    std::string question;
    for (const auto& fact : output::pick_facts(all, attempt)) {
        question += output::wrapped(fact, "", output::width_of_errors());
    }
    question += "Pick " + printable(attempt.name) + " (" + printable(attempt.short_id) + ") of task " +
                output::short_id(all.task) + "?";
    return output::confirmed(question);
}

Result<Json> pick(Context& context, const rpc::TaskCompare::Reply& all, const rpc::ComparedAttempt& attempt) {
    rpc::TaskPick params;
    params.id = all.task.fields.id.value;
    params.attempt = attempt.id;
    return context.call_json(params.k_name, written(params));
}

std::string picked_page(const rpc::TaskReply& reply, const output::Style& style) {
    return output::task_line(reply.task, style) +
           output::notes_text(output::with_short_ids(reply.notes, reply.task), style);
}

/// Shows the attempts, and asks which one is to be picked.
Result<rpc::ComparedAttempt> chosen_attempt(const rpc::TaskCompare::Reply& all) {
    output::Style style;
    style.row = style.width = output::width_of_errors();
    const auto shown = output::compared(all, style);
    output::print_error(style.paint(shown.lines));
    const auto word = output::asked("Pick which attempt? (its name or number; nothing: none)");
    if (!word || trim(*word).empty()) return {ErrorCode::needs_force, "nothing was picked"};
    return output::attempt_named(all, trim(*word));
}

}  // namespace

Status task_compare(Context& context, rpc::TaskCompare params, const CompareOptions& options) {
    complete_with_cwd(context, params, params.id.has_value());
    if (options.two.size() == 2) return show_difference(context, params, options);
    return answer(context, params,
                  [&](const rpc::TaskCompare::Reply& reply) { return output::compare_page(reply, context.style); });
}

Status task_pick(Context& context, rpc::TaskPick params, bool yes) {
    rpc::TaskCompare compare;
    compare.id = params.id;
    TRY(const auto all, context.call(compare));
    TRY(const auto attempt, output::attempt_named(all, params.attempt.value_or("")));
    const bool may_ask = !context.json && output::is_interactive();
    if (!yes && !may_ask) {
        return {ErrorCode::needs_force, "cannot ask for confirmation without a terminal. To confirm:\n  orange pick " +
                                            output::short_id(all.task) + " " + output::attempt_word(attempt) +
                                            " --yes"};
    }
    if (!yes && !attempt.picked && !is_confirmed(all, attempt)) {
        return {ErrorCode::needs_force, "nothing was changed"};
    }
    return print<rpc::TaskPick>(context, pick(context, all, attempt),
                                [&](const rpc::TaskReply& reply) { return picked_page(reply, context.style); });
}

bool is_not_picked(const Error& error) {
    return detail_in(error, "why") == rpc::k_not_picked;
}

Result<void> picked_after_question(Context& context, const Error& refused) {
    rpc::TaskCompare compare;
    compare.id = detail_in(refused, "parent");
    TRY(const auto all, context.call(compare));
    output::print_error("orange: no attempt of task " + output::short_id(all.task) + " is picked yet\n");
    const auto named = detail_in(refused, "attempt");
    auto attempt = named.empty() ? chosen_attempt(all) : output::attempt_named(all, named);
    if (!attempt) return attempt.error();
    if (!is_confirmed(all, *attempt)) return {ErrorCode::needs_force, "nothing was changed"};
    TRY(const auto reply, pick(context, all, *attempt));
    TRY(const auto typed, connection::reply_as<rpc::TaskReply>(rpc::TaskPick::k_name, reply));
    output::print_error(picked_page(typed, {}));
    return {};
}

}  // namespace orange::commands
