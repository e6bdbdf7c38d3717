#include "client/commands/usage.hpp"

#include "client/output/usage.hpp"

namespace orange::commands {

Status usage(Context& context, const rpc::UsageShow& params) {
    return answer(context, params, [&](const rpc::UsageShow::Reply& reply) {
        return output::usage_page(reply, SystemClock().now(), context.style);
    });
}

}  // namespace orange::commands
