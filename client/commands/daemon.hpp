#pragma once

#include <string>

#include "client/commands/context.hpp"
#include "common/rpc/doctor_methods.hpp"

namespace orange::commands {

/// Starts the daemon where none runs, ORANGE_NO_AUTOSTART or not: it was asked for by name.
int daemon_start(Context& context);
/// Asks the daemon to end and waits until its process has. No daemon: success, and said.
int daemon_stop(Context& context);
/// daemon_stop() and daemon_start(). `force`: a daemon that does not answer or end is killed. Not from inside an agent,
/// which could do the first half alone.
int daemon_restart(Context& context, bool force);
int daemon_status(Context& context);
int daemon_reload(Context& context);
/// The supervisor's main (connection/supervisor.hpp); not for people.
int daemon_supervise(const Context& context, const std::string& oranged);

/// What is not as it should be, with the daemon or without one. 1 where something is wrong.
int doctor(Context& context, rpc::DaemonDoctor params);

int version(const Context& context);

}  // namespace orange::commands
