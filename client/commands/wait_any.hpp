#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/watch_methods.hpp"

namespace orange::commands {

/// `orange task wait --any`: waits for the first of these tasks, each with or without its host. `params` has no task.
/// 0: it has reached what was waited for; 1: no task can any more; 3: the time passed.
int task_wait_any(Context& context, const std::vector<std::string>& tasks, const rpc::TaskWait& params);

}  // namespace orange::commands
