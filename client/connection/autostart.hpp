#pragma once

#include <optional>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// Connects to a running daemon. The error `unavailable` contains the command that starts one.
Result<Connection> connect(const Paths& paths);

/// Connects as connect() does, and starts a daemon if none answers. No daemon is started with ORANGE_NO_AUTOSTART=1 and
/// inside an agent, because a daemon must not be an agent's child or have its environment. Inside an agent the call
/// waits five seconds, in case the daemon is being restarted.
Result<Connection> connect_or_start(const Paths& paths);

/// Waits briefly for the daemon that a supervisor starts after one has ended by itself or was killed.
std::optional<Connection> wait_for_next(const Paths& paths);

/// Calls wait_for_next(), and if there is none, connect_or_start().
Result<Connection> connect_to_next(const Paths& paths);

/// Returns true if an agent called the client: ORANGE_TASK is set, or an orange-agent is among its ancestors.
bool inside_agent();

}  // namespace orange::connection
