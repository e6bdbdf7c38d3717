#pragma once

#include <optional>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// Only where a daemon already listens; `unavailable` says how to start one.
Result<Connection> connect(const Paths& paths);

/// As connect(), but starts a daemon where none answers. Not with ORANGE_NO_AUTOSTART=1, and never from inside an agent
/// (a daemon must not be an agent's child, and must not get its environment): there this waits a little, since a daemon
/// that is being restarted comes back, and then says that it is down.
Result<Connection> connect_or_start(const Paths& paths);

/// The daemon after one that ended by itself or was killed, if whoever supervises it starts it within a moment.
std::optional<Connection> wait_for_next(const Paths& paths);

/// wait_for_next(), else connect_or_start().
Result<Connection> connect_to_next(const Paths& paths);

/// The client was called by an agent: ORANGE_TASK is set, or an orange-agent is among its ancestors.
bool inside_agent();

}  // namespace orange::connection
