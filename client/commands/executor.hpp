#pragma once

#include "client/commands/context.hpp"
#include "client/commands/harness.hpp"
#include "common/rpc/executor_methods.hpp"

/// The commands about executors. `orange executor test` is a trial like `orange harness test` (harness.hpp).
namespace orange::commands {

Status executor_list(Context& context);
/// `source`: the file's text instead of its command lines.
Status executor_show(Context& context, rpc::ExecutorShow params, bool source);

}  // namespace orange::commands
