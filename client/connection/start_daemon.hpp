#pragma once

#include <filesystem>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// Starts a daemon, as the user's service if that is enabled for this home, else detached and with a supervisor, and
/// waits until one takes connections: this one, or another that was started meanwhile. On failure the error holds the
/// end of what the daemon said.
Result<Connection> start_daemon(const Paths& paths);

/// The daemon's program: beside the client's own, else on PATH.
Result<std::filesystem::path> find_oranged();

}  // namespace orange::connection
