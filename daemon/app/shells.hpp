#pragma once

#include <vector>

#include "daemon/agents/login_environment.hpp"
#include "daemon/agents/program_search.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

/// The results of asking the user's shells: the environment of agents, and where their programs may be.
struct Shells {
    agents::LoginEnvironment login;
    std::vector<agents::SearchPath> paths;
};

/// Asks the login shell and an interactive shell, each with a deadline. If a shell does not answer, `login` has its
/// problem, and the daemon's own environment.
Awaitable<Shells> ask_shells(ProcessRunner& runner);

/// Does the same before the daemon's io_context exists: blocks until both shells have answered or their time is over.
Shells ask_shells_first();

}  // namespace orange
