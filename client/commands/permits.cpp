#include "client/commands/permits.hpp"

#include <algorithm>
#include <utility>

#include "client/commands/task.hpp"
#include "client/output/permits.hpp"
#include "client/output/tasks.hpp"
#include "common/base/clock.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/permit_methods.hpp"

namespace orange::commands {
namespace {

/// Returns "\n  orange allow 4f2a.2" for each open request.
std::string commands_for(const rpc::TaskShow::Reply& reply, const char* verb) {
    std::string lines;
    for (const auto& permit : reply.permits) {
        lines += "\n  orange " + std::string(verb) + " " + output::permit_word(reply.task, permit.number);
    }
    return lines;
}

Result<PermitChoice> choose_only(const rpc::TaskShow::Reply& reply, const PermitWish& wish) {
    const auto id = output::short_id(reply.task);
    const char* verb = wish.allows ? "allow" : "deny";
    if (reply.permits.empty()) {
        return {ErrorCode::not_found, "no program of task " + id +
                                          " waits for a permit. To see what the task waits for:\n  orange why " + id};
    }
    if (reply.permits.size() > 1) {
        return {ErrorCode::invalid_argument, "task " + id + " has " + std::to_string(reply.permits.size()) +
                                                 " open requests. To see them:\n  orange show " + id +
                                                 "\nName the one to " + verb + ":" + commands_for(reply, verb)};
    }
    const auto& permit = reply.permits.front();
    if (wish.allows && !permit.whole) {
        return {ErrorCode::forbidden, output::not_whole_text(reply.task, permit.number)};
    }
    if (wish.may_ask) return PermitChoice{permit.number, &permit};
    // Another request may be the only one by the time that the command runs.
    return {ErrorCode::needs_force, "the request has to be named where Orange cannot ask. To see it:\n  orange show " +
                                        id + "\nTo " + verb + " it:" + commands_for(reply, verb)};
}

/// Returns the task that a word names, and the number in the word. A branch may end with a dot and digits, too.
Result<std::pair<rpc::TaskShow::Reply, std::optional<std::int64_t>>> found_task(
    Context& context, const std::optional<std::string>& word) {
    const auto name = word ? permit_name(*word) : PermitName{};
    rpc::TaskShow show;
    if (word) show.id = name.task;
    complete_with_cwd(context, show, word.has_value());
    auto reply = context.call(show);
    if (reply || !name.number || reply.error().code != ErrorCode::not_found) {
        if (!reply) return reply.error();
        return std::pair(std::move(*reply), name.number);
    }
    show.id = word;
    auto whole = context.call(show);
    if (!whole) return reply.error();
    return std::pair(std::move(*whole), std::optional<std::int64_t>());
}

/// Shows the request whole, and asks.
bool is_confirmed(const Context& context, const rpc::TaskView& task, const rpc::PermitView& permit, bool allows) {
    constexpr std::size_t k_at_a_glance = 20;
    auto style = context.style;
    style.row = output::width_of_errors();
    const auto lines = output::permit_lines(task, permit, SystemClock().now(), style);
    output::print_error(style.paint(lines));
    output::forget_typed();
    const auto size = lines.size() > k_at_a_glance ? " It has " + counted(lines.size(), "line") + "." : std::string();
    return output::confirmed((allows ? "Allow it?" : "Deny it?") + size);
}

/// Answers the request that `options` name; `fill` completes the parameters.
template <class Method>
Status answer_permit(Context& context, const PermitOptions& options, bool allows, Method params) {
    TRY(const auto found, found_task(context, options.request));
    const auto& [reply, number] = found;
    const PermitWish wish{allows, options.yes, !context.json && output::is_interactive()};
    TRY(const auto choice, choose_permit(reply, number, wish));
    if (choice.to_show != nullptr && !is_confirmed(context, reply.task, *choice.to_show, allows)) {
        return {ErrorCode::needs_force, "nothing was answered"};
    }
    params.id = reply.task.fields.id.value;
    params.number = choice.number;
    return print_change(context, Method::k_name, written(params));
}

}  // namespace

PermitName permit_name(std::string_view word) {
    const auto dot = word.rfind('.');
    const auto digits = dot == std::string_view::npos || dot == 0 ? std::string_view() : word.substr(dot + 1);
    const bool is_number = !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    const auto number = is_number ? whole_number(digits) : std::nullopt;
    if (!number) return {std::string(word), std::nullopt};
    return {std::string(word.substr(0, dot)), number};
}

Result<PermitChoice> choose_permit(const rpc::TaskShow::Reply& reply, std::optional<std::int64_t> number,
                                   const PermitWish& wish) {
    if (!number) return choose_only(reply, wish);
    const auto id = output::short_id(reply.task);
    const auto permit = std::ranges::find(reply.permits, *number, &rpc::PermitView::number);
    if (permit == reply.permits.end()) {
        if (!wish.allows) return PermitChoice{*number, nullptr};
        // A request that comes only now under this number was seen by nobody.
        const auto open = commands_for(reply, "allow");
        return {ErrorCode::not_found,
                "request " + output::permit_word(reply.task, *number) +
                    " is not open: it was answered, is over, or never came. To see what became of it:\n"
                    "  orange history " +
                    id + (open.empty() ? "" : "\nOpen is:" + open)};
    }
    if (!wish.allows) return PermitChoice{*number, nullptr};
    if (!permit->whole) return {ErrorCode::forbidden, output::not_whole_text(reply.task, *number)};
    if (wish.yes || permit->is_short()) return PermitChoice{*number, nullptr};
    if (wish.may_ask) return PermitChoice{*number, &*permit};
    const auto word = output::permit_word(reply.task, *number);
    return {ErrorCode::needs_force, "request " + word +
                                        " is longer than its line, and Orange cannot ask here whether you have seen "
                                        "all of it. To see it:\n  orange show " +
                                        id + "\nTo allow it:\n  orange allow " + word + " --yes"};
}

Status task_allow(Context& context, const PermitOptions& options) {
    return answer_permit(context, options, true, rpc::TaskAllow{});
}

Status task_deny(Context& context, const PermitOptions& options) {
    rpc::TaskDeny params;
    TRY(const auto text, text_argument(join(options.words, " ")));
    params.text = std::string(trim(text));
    return answer_permit(context, options, false, std::move(params));
}

}  // namespace orange::commands
