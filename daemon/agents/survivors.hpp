#pragma once

#include "common/model/record.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"

namespace orange::agents {

/// Ends what a run has left whose shim was killed: processes of that run (ORANGE_RUN) that are in the shim's session or
/// whose working directory is in `worktree` (empty: none is). TERM, a second for their end, then KILL. Not what the
/// agent started for everybody, elsewhere.
Awaitable<void> end_survivors(AgentRun run, Path worktree);

}  // namespace orange::agents
