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

/// The variable that a workspace's setup command gets: setup_mark() of the daemon that runs it.
inline constexpr const char* k_setup_variable = "ORANGE_SETUP";
inline std::string setup_mark(const Path& worktree, const std::string& daemon) {
    return worktree.string() + "@" + daemon;
}

/// Ends what daemons that were killed have left of a setup command in `worktree`: processes with the mark of another
/// daemon than `daemon` that work there or are in the session of one that does. TERM, a second, KILL, as above. Only
/// one daemon has a home, so that another one's setup is nobody's.
Awaitable<void> end_lost_setup(Path worktree, std::string daemon);

}  // namespace orange::agents
