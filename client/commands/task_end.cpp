// The commands that end a task. They ask on a terminal; elsewhere --yes is the answer.
#include "client/commands/task.hpp"
#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::commands {
namespace {

bool may_ask(const Context& context, bool yes) {
    return !yes && !context.json && output::is_interactive();
}

/// Whether it is meant, before anything is sent.
Result<void> asked(const Context& context, bool yes, const std::string& question, const std::string& command) {
    if (yes || (may_ask(context, yes) && output::confirmed(question))) return {};
    if (may_ask(context, yes)) return {ErrorCode::needs_force, "left as it is"};
    return {ErrorCode::needs_force,
            "there is no terminal to ask on, and this cannot be undone; if it is meant: " + command + " --yes"};
}

std::string named(const std::optional<std::string>& id) {
    return id ? "task " + printable(*id) : "this task";
}

/// A request that the daemon may answer with needs_force: then a person is asked, `yes` says so in advance, and without
/// a terminal the error names the flag.
template <class Method>
Result<Json> call_with_force(Context& context, Method& params, bool yes, const std::string& question,
                             const std::string& flag) {
    auto reply = context.call_json(Method::k_name, written(params));
    if (reply || reply.error().code != ErrorCode::needs_force || params.force) return reply;
    if (may_ask(context, yes)) {
        output::complain("orange: " + printable(reply.error().message, true) + "\n");
        if (!output::confirmed(question)) return Error(ErrorCode::needs_force, "left as it is");
    } else if (!yes) {
        Error error = reply.error();
        if (error.message.find(flag) == std::string::npos)
            error.message += "; with " + flag + " it is done nevertheless";
        return error;
    }
    params.force = true;
    return context.call_json(Method::k_name, written(params));
}

std::string merge_page(const rpc::TaskMerge::Reply& reply, bool here_only, const output::Style& style) {
    std::string out = output::task_line(reply.task, style);
    const auto commit = printable(reply.commit.substr(0, 12));
    const auto where = reply.pushed ? ", pushed\n" : here_only ? ", here only\n" : "\n";
    out += reply.elsewhere ? "  nothing was merged or pushed: the default branch has it, as " + commit + "\n"
                           : "  merged as " + commit + where;
    if (!reply.forced.empty()) out += "  forced: " + printable(reply.forced, true) + "\n";
    return out + output::notes_text(reply.notes, style);
}

/// What a person has to confirm is asked on a terminal, with the fact that it is about. `--yes` answers no such
/// question, and a script says --force. What was shown is what is merged: the daemon refuses another commit.
Result<Json> confirm_merge(Context& context, rpc::TaskMerge& params, const Error& refused) {
    const auto detail = [&](const char* key) {
        const auto found = refused.details.find(key);
        return found == refused.details.end() ? std::string() : found->second;
    };
    if (!may_ask(context, false)) return refused;
    output::complain("orange: " + printable(detail("facts"), true) + "\n");
    if (!output::confirmed(detail("question"))) return Error(ErrorCode::needs_force, "nothing was merged");
    params.force = true;
    params.tip = detail("tip");
    return context.call_json(rpc::TaskMerge::k_name, written(params));
}

}  // namespace

int task_merge(Context& context, rpc::TaskMerge params, bool yes) {
    complete_with_cwd(context, params, params.id.has_value());
    auto reply = context.call_json(rpc::TaskMerge::k_name, written(params));
    if (!reply && reply.error().code == ErrorCode::needs_force && !params.force && !yes) {
        reply = confirm_merge(context, params, reply.error());
    }
    if (!reply) return fail(context, reply.error());
    if (context.json) return put_json(*reply);
    auto typed = connection::reply_as<rpc::TaskMerge::Reply>(rpc::TaskMerge::k_name, *reply);
    if (!typed) return fail(context, typed.error());
    output::put(merge_page(*typed, params.no_push, context.style));
    return 0;
}

int task_cancel(Context& context, rpc::TaskCancel params, bool yes) {
    complete_with_cwd(context, params, params.id.has_value());
    const auto question = "Cancel " + named(params.id) + "? Its agents end; unsaved work is kept under refs/orange.";
    const auto command = "orange task cancel" + (params.id ? " " + *params.id : std::string());
    if (auto meant = asked(context, yes, question, command); !meant) return fail(context, meant.error());
    return answer(context, params, [&](const rpc::TaskReply& reply) {
        return output::task_line(reply.task, context.style) + output::notes_text(reply.notes, context.style);
    });
}

int task_delete(Context& context, rpc::TaskDelete params, bool yes) {
    complete_with_cwd(context, params, params.id.has_value());
    const auto question = "Delete " + named(params.id) + " with its TASK.md, history and logs?";
    const auto command = std::string("orange task delete") + (params.force ? " --force" : "") +
                         (params.id ? " " + *params.id : std::string());
    if (auto meant = asked(context, yes, question, command); !meant) return fail(context, meant.error());
    // "yes" to deleting is no "yes" to ending a task that is still at work: that question is its own.
    const bool force_unasked = false;
    auto reply =
        call_with_force(context, params, force_unasked, "It has not ended. Cancel it and delete it?", "--force");
    if (!reply) return fail(context, reply.error());
    if (context.json) return put_json(*reply);
    output::put("deleted " + output::short_id(output::text_of(*reply, "id")) + "\n");
    auto typed = connection::reply_as<rpc::TaskDelete::Reply>(rpc::TaskDelete::k_name, *reply);
    if (typed) output::put(output::notes_text(typed->notes, context.style));
    return 0;
}

}  // namespace orange::commands
