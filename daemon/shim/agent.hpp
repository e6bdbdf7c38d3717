#pragma once

#include "daemon/shim/spec.hpp"

/// orange-agent, the program between tmux and an agent. The daemon starts it in a tmux window with a run spec
/// (spec.hpp); it starts the agent, stays its parent, and writes an exit record when the agent has ended
/// (exit_record.hpp). With an executor it starts that instead, and a second orange-agent on the far side starts the
/// agent. It also runs the tmux server (keeper.hpp), reports events of agents' hooks (event.hpp), and moves processes
/// into systemd scopes (scope.hpp). It talks to the daemon only by files, so agents outlive a daemon.
///
/// If an agent cannot be started, the exit record says why.
namespace orange::shim {

/// Runs one agent from its start to its end, and returns the status to exit with.
int run_agent(const RunSpec& spec);

}  // namespace orange::shim
