// The commands that only look.
#include "client/commands/task.hpp"
#include "client/output/tasks.hpp"
#include "common/base/text.hpp"

namespace orange::commands {

int task_list(Context& context, rpc::TaskList params, bool everywhere) {
    complete_with_cwd(context, params, params.project || everywhere);
    return answer(context, params, [&](const rpc::TaskList::Reply& reply) {
        return output::task_list_page(reply, SystemClock().now(), context.style);
    });
}

int task_show(Context& context, rpc::TaskShow params) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [&](const rpc::TaskShow::Reply& reply) {
        return output::task_page(reply, SystemClock().now(), context.style);
    });
}

int task_why(Context& context, rpc::TaskWhy params) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params,
                  [&](const rpc::TaskWhy::Reply& reply) { return output::why_page(reply, context.style); });
}

int task_peek(Context& context, rpc::TaskPeek params) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [](const rpc::TaskPeek::Reply& reply) {
        auto text = printable(reply.text, true);
        if (!text.empty() && text.back() != '\n') text += '\n';
        return text;
    });
}

}  // namespace orange::commands
