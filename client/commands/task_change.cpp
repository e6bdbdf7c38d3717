// The commands that move a task or send messages to its agent.
#include "client/commands/task.hpp"
#include "client/output/tasks.hpp"
#include "common/base/try.hpp"

namespace orange::commands {

Status print_change(Context& context, const char* method, Json params) {
    return print<rpc::TaskAck>(context, context.call_json(method, std::move(params)), [&](const rpc::TaskReply& reply) {
        return output::task_line(reply.task, context.style) + output::notes_text(reply.notes, context.style);
    });
}

Status task_spawn(Context& context, rpc::TaskSpawn params) {
    complete_with_cwd(context, params, params.id.has_value());
    return print_started(context, context.call_json(params.k_name, written(params)));
}
Status task_respawn(Context& context, rpc::TaskRespawn params) {
    complete_with_cwd(context, params, params.id || params.all);
    return answer(context, params, [&](const rpc::TaskRespawn::Reply& reply) {
        std::string out;
        for (const auto& task : reply.tasks) out += output::task_line(task, context.style);
        if (out.empty() && reply.notes.empty()) out = "no agent is dead\n";
        return out + output::notes_text(reply.notes, context.style);
    });
}

Status task_update(Context& context, rpc::TaskUpdate params) {
    if (params.branch && params.branch->empty()) {
        params.branch.reset();
        params.sync_branch = true;
    }
    if (params.feedback) {
        TRY(params.feedback, text_argument(*params.feedback));
    }
    if (!params.status && !params.any()) {
        return {ErrorCode::invalid_argument,
                "nothing to change. Give an option such as --status, --summary, --branch or --feedback:\n"
                "  orange task update --help"};
    }
    return change(context, std::move(params));
}

}  // namespace orange::commands
