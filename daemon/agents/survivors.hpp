#pragma once

#include <string>

#include "common/model/record.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"

namespace orange::agents {

/// Ends what a run has left whose shim was killed: processes of that run (ORANGE_RUN) that are in the shim's session or
/// whose working directory is in `worktree` (empty: none is). TERM, a second for their end, then KILL. Not what the
/// agent started for everybody, elsewhere.
Awaitable<void> end_survivors(AgentRun run, Path worktree);

/// The variable of what a daemon runs in a workspace (setup commands, git): its mark, `<home>@<one of its life>`.
inline constexpr const char* k_daemon_variable = "ORANGE_DAEMON";

/// Ends what daemons that were killed have left in `worktree`: processes with the mark of another daemon of the same
/// home than `mark` that work there or are in the session of one that does. TERM, a second, KILL, as above. Only one
/// daemon has a home, so that another one's git or setup command is nobody's.
Awaitable<void> end_left_by_daemons(Path worktree, std::string mark);

}  // namespace orange::agents
