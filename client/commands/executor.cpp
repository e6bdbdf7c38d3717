#include "client/commands/executor.hpp"

#include "client/output/executors.hpp"
#include "common/base/text.hpp"

namespace orange::commands {

Status executor_list(Context& context) {
    return answer(context, rpc::ExecutorList{true}, output::executors_page);
}

Status executor_show(Context& context, rpc::ExecutorShow params, bool source) {
    complete_with_cwd(context, params, params.id.has_value());
    return answer(context, params, [&](const rpc::ExecutorShow::Reply& reply) {
        return source ? printable(reply.text, true) : output::executor_page(reply, context.style);
    });
}

}  // namespace orange::commands
