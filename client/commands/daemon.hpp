#pragma once

#include <string>

#include "client/commands/context.hpp"
#include "common/rpc/doctor_methods.hpp"

namespace orange::commands {

/// Starts the daemon if none runs, even with ORANGE_NO_AUTOSTART, because it was asked for explicitly.
Status daemon_start(Context& context);
/// Asks the daemon to end, and waits until its process has ended. Success, with a message, if no daemon runs.
Status daemon_stop(Context& context);
/// Stops and starts the daemon. `force`: kills a daemon that does not answer or end. Refused inside an agent, which
/// could stop the daemon but not start it.
Status daemon_restart(Context& context, bool force);
Status daemon_status(Context& context);
Status daemon_reload(Context& context);
/// Runs the supervisor (connection/supervisor.hpp); not for people.
Status daemon_supervise(const Context& context, const std::string& oranged);

/// Prints problems, with or without a daemon. Returns 1 if there is an error.
Status doctor(Context& context, rpc::DaemonDoctor params);

Status version(const Context& context);

}  // namespace orange::commands
