#include "client/commands/task.hpp"
#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::commands {
namespace {

std::string detail_of(const Error& error, const char* name) {
    const auto found = error.details.find(name);
    return found == error.details.end() ? std::string() : found->second;
}

}  // namespace

Result<Json> create_task(Context& context, rpc::TaskCreate params) {
    params.id = random_id(k_task_id_length);
    params.caller = caller_environment();
    params.ask_trust = !context.json && output::is_interactive();
    const auto call = [&](const Json& json) { return context.call_json_again(params.k_name, json); };
    for (;;) {
        auto reply = call_with_caller(call, written(params), {"id", "ask_trust", "trust"});
        const auto asking = reply ? std::string() : detail_of(reply.error(), "trust");
        if (asking.empty()) return reply;
        // Without the answer the agent asks the same in its window.
        const auto question = printable(asking) + " wants to know whether it may trust " +
                              printable(detail_of(reply.error(), "repository")) + ". May it?";
        if (output::confirmed(question)) {
            params.trust.push_back(asking);
        } else {
            params.ask_trust = false;
        }
    }
}

int spawn_status(const Context& context, const rpc::TaskReply& started) {
    if (!started.spawn_error) return 0;
    const auto id = output::short_id(started.task);
    if (!context.json) {
        fail(context, {ErrorCode::external_failed, "task " + id + " was created, but its agent is not running: " +
                                                       *started.spawn_error + "\n  orange task why " + id});
    }
    return 1;
}

int print_started(const Context& context, const Result<Json>& reply, const std::string& note) {
    if (!reply) return fail(context, reply.error());
    auto started = connection::reply_as<rpc::TaskReply>(rpc::TaskCreate::k_name, *reply);
    if (!started) return fail(context, started.error());
    if (context.json) {
        put_json(*reply);
    } else {
        if (!note.empty()) started->notes.push_back(note);
        output::put(output::task_line(started->task, context.style) +
                    output::notes_text(started->notes, context.style));
    }
    return spawn_status(context, *started);
}

namespace {

/// `add-login "Implement the login form"`.
bool are_branch_and_summary(const std::vector<std::string>& words) {
    constexpr std::string_view k_not_in_branches = " ~^:?*[\\\"'!,;";
    if (words.size() != 2 || words[1].find(' ') == std::string::npos) return false;
    const auto& name = words[0];
    const bool odd = name.empty() || name.find("..") != std::string::npos || name.find("//") != std::string::npos ||
                     name.ends_with('.') || name.ends_with('/') || name.starts_with('/') || name.starts_with('-');
    return !odd && name.find_first_of(k_not_in_branches) == std::string::npos;
}

}  // namespace

int task_create(Context& context, rpc::TaskCreate params, const std::vector<std::string>& words) {
    if (!words.empty() && !params.summary.empty()) {
        return fail(context, {ErrorCode::invalid_argument,
                              "the summary is given twice; leave out --summary or the other words"});
    }
    std::string note;
    if (!params.branch && are_branch_and_summary(words)) {
        params.branch = words[0];
        params.summary = words[1];
        note = "branch " + words[0] + ", the first of the two arguments; to have it in the summary, quote both as one";
    } else if (!words.empty()) {
        params.summary = join(words, " ");
    }
    if (params.summary.empty() && !context.json && output::is_interactive()) {
        const auto answer = output::asked("What is to be done?");
        if (!answer) return fail(context, {ErrorCode::invalid_argument, "no task was created"});
        params.summary = *answer;
    }
    if (params.context) {
        auto text = text_argument(*params.context);
        if (!text) return fail(context, text.error());
        params.context = std::move(*text);
    }
    complete_with_cwd(context, params, params.project.has_value());
    return print_started(context, create_task(context, params), note);
}

}  // namespace orange::commands
