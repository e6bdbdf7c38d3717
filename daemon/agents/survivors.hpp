#pragma once

#include <string>

#include "common/model/record.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"

/// Ends stray processes of killed ones, of a run's shim or of daemons (process/stray_processes.hpp defines them), with
/// a line in the log.
namespace orange::agents {

Awaitable<void> end_survivors(AgentRun run, Path worktree);
Awaitable<void> end_left_by_daemons(Path worktree, std::string mark);
/// Ends what a command with a mark of its own (process::of_command()) has left.
Awaitable<void> end_left_by_command(std::string mark);

}  // namespace orange::agents
