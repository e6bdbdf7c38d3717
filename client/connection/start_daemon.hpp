#pragma once

#include <filesystem>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// Starts a daemon, as the user's service if that is enabled for this home, otherwise detached and with a supervisor.
/// Waits until a daemon takes connections: this one, or another that was started meanwhile. The error of a failure
/// contains the end of the daemon's output.
Result<Connection> start_daemon(const Paths& paths);

/// Returns the daemon's program: beside the client's own, or else on PATH.
Result<std::filesystem::path> find_oranged();

}  // namespace orange::connection
