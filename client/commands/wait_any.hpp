#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/watch_methods.hpp"

namespace orange::commands {

/// Runs `orange task wait --any`: waits for the first of these tasks, each with or without its host. `params` has no
/// task. Returns 0 if a task is in the wanted state, 1 if none can get there any more, 3 if the time passed.
Status task_wait_any(Context& context, const std::vector<std::string>& tasks, const rpc::TaskWait& params);

}  // namespace orange::commands
