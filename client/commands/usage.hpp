#pragma once

#include "client/commands/context.hpp"
#include "common/rpc/usage_methods.hpp"

namespace orange::commands {

/// Shows the tokens and the time of tasks.
Status usage(Context& context, const rpc::UsageShow& params);

}  // namespace orange::commands
