#pragma once

#include <chrono>
#include <filesystem>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// Returns the socket that this client uses: ORANGE_SOCKET, which is in an agent's environment, or else the home's. A
/// run's socket in another home does not count, because ORANGE_HOME was changed after it was set.
std::filesystem::path daemon_socket(const Paths& paths);

/// Returns forbidden if ORANGE_SOCKET counts, but no agent started this client.
Result<void> check_daemon_socket(const Paths& paths);

/// Connects to daemon_socket(). With ORANGE_SOCKET the home is not checked. forbidden as in check_daemon_socket();
/// not_found if the socket's run has ended.
Result<Connection> open_daemon(const Paths& paths, std::chrono::milliseconds deadline, Patience patience = {});

}  // namespace orange::connection
