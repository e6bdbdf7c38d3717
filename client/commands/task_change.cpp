// The commands that move a task or send messages to its agent.
#include "client/commands/task.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::commands {

int print_change(Context& context, const char* method, Json params) {
    return print<rpc::TaskAck>(context, context.call_json(method, std::move(params)), [&](const rpc::TaskReply& reply) {
        return output::task_line(reply.task, context.style) + output::notes_text(reply.notes, context.style);
    });
}

int task_spawn(Context& context, rpc::TaskSpawn params) {
    complete_with_cwd(context, params, params.id.has_value());
    return print_started(context, context.call_json(params.k_name, written(params)));
}
int task_complete(Context& context, rpc::TaskComplete params) {
    return change(context, std::move(params));
}
int task_stuck(Context& context, rpc::TaskStuck params) {
    return change(context, std::move(params));
}
int task_approve(Context& context, rpc::TaskApprove params) {
    return change(context, std::move(params));
}

int task_ack(Context& context, rpc::TaskAck params) {
    return change(context, std::move(params));
}

int task_respawn(Context& context, rpc::TaskRespawn params) {
    complete_with_cwd(context, params, params.id || params.all);
    return answer(context, params, [&](const rpc::TaskRespawn::Reply& reply) {
        std::string out;
        for (const auto& task : reply.tasks) out += output::task_line(task, context.style);
        if (out.empty() && reply.notes.empty()) out = "no agent is dead\n";
        return out + output::notes_text(reply.notes, context.style);
    });
}

int task_send(Context& context, rpc::TaskSend params, std::vector<std::string> words) {
    if (words.size() > 1) {
        params.id = words.front();
        words.erase(words.begin());
    }
    auto text = text_argument(join(words, " "));
    if (!text) return fail(context, text.error());
    params.text = std::string(trim(*text));
    return change(context, std::move(params));
}

int task_update(Context& context, rpc::TaskUpdate params) {
    if (params.branch && params.branch->empty()) {
        params.branch.reset();
        params.sync_branch = true;
    }
    if (params.feedback) {
        auto text = text_argument(*params.feedback);
        if (!text) return fail(context, text.error());
        params.feedback = std::move(*text);
    }
    if (!params.status && !params.any()) {
        return fail(context, {ErrorCode::invalid_argument,
                              "nothing to change. Give an option such as --status, --summary, --branch or --feedback:\n"
                              "  orange task update --help"});
    }
    return change(context, std::move(params));
}

}  // namespace orange::commands
