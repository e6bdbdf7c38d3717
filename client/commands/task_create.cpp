#include "client/commands/task.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::commands {

Result<Json> create_task(Context& context, rpc::TaskCreate params) {
    params.id = random_id(k_task_id_length);
    params.caller = caller_environment();
    const auto call = [&](const Json& json) { return context.call_json_again(params.k_name, json); };
    return call_with_caller(call, rpc::written(params), {"id"});
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
    return print<rpc::TaskCreate>(context, create_task(context, params), [&](const rpc::TaskReply& reply) {
        return output::task_line(reply.task, context.style) + output::notes_text(reply.notes, context.style);
    });
}

}  // namespace orange::commands
