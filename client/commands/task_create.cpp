#include "client/commands/task.hpp"
#include "client/output/events.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::commands {

Result<Json> create_task(Context& context, rpc::TaskCreate params) {
    params.id = random_id(k_task_id_length);
    params.caller = caller_environment();
    const auto call = [&](const Json& json) { return context.call_json_again(params.k_name, json); };
    return call_with_caller(call, written(params), {"id"});
}

int spawn_status(const Context& context, const rpc::TaskReply& started) {
    if (!started.spawn_error) return 0;
    const auto id = output::short_id(started.task.fields.id.value);
    if (!context.json) {
        output::complain("orange: task " + id +
                         " exists, but its agent was not started: " + printable(*started.spawn_error, true) + "\n");
    }
    return 1;
}

int print_started(const Context& context, const Result<Json>& reply) {
    if (!reply) return fail(context, reply.error());
    auto started = connection::reply_as<rpc::TaskReply>(rpc::TaskCreate::k_name, *reply);
    if (!started) return fail(context, started.error());
    if (context.json) {
        put_json(*reply);
    } else {
        output::put(output::task_line(started->task, context.style) +
                    output::notes_text(started->notes, context.style));
    }
    return spawn_status(context, *started);
}

int task_create(Context& context, rpc::TaskCreate params, const std::vector<std::string>& words) {
    if (!words.empty() && !params.summary.empty()) {
        return fail(context, {ErrorCode::invalid_argument, "the summary is there twice: once bare, once as --summary"});
    }
    if (!words.empty()) params.summary = join(words, " ");
    if (params.context) {
        auto text = text_argument(*params.context);
        if (!text) return fail(context, text.error());
        params.context = std::move(*text);
    }
    complete_with_cwd(context, params, params.project.has_value());
    return print_started(context, create_task(context, params));
}

}  // namespace orange::commands
