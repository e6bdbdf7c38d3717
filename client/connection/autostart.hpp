#pragma once

#include <optional>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// Connects to a daemon that runs. `unavailable` says how to start one.
Result<Connection> connect(const Paths& paths);

/// As connect(), but starts a daemon if none answers. With ORANGE_NO_AUTOSTART=1 it starts none, and inside an agent
/// neither: a daemon must not be an agent's child, and must not get its environment. Inside an agent it waits five
/// seconds for a daemon that is being restarted.
Result<Connection> connect_or_start(const Paths& paths);

/// Waits a moment for the daemon that a supervisor starts after one that ended by itself or was killed.
std::optional<Connection> wait_for_next(const Paths& paths);

/// Calls wait_for_next(), and if there is none, connect_or_start().
Result<Connection> connect_to_next(const Paths& paths);

/// Returns true if an agent called the client: ORANGE_TASK is set, or an orange-agent is among its ancestors.
bool inside_agent();

}  // namespace orange::connection
