#pragma once

#include <vector>

#include "daemon/agents/login_environment.hpp"
#include "daemon/agents/program_search.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange {

/// What the user's shells say: the environment of agents, and where their programs may be.
struct Shells {
    agents::LoginEnvironment login;
    std::vector<agents::SearchPath> paths;
};

/// Asks the login shell and an interactive one, each with a deadline. A shell that does not answer leaves its problem
/// in `login`, and the daemon's own environment.
Awaitable<Shells> ask_shells(ProcessRunner& runner);

/// The same before the daemon's io_context exists: blocks until both have answered or their time is over.
Shells ask_shells_first();

}  // namespace orange
