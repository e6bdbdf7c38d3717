#pragma once

#include <chrono>
#include <filesystem>

#include "client/connection/connection.hpp"
#include "common/config/paths.hpp"

namespace orange::connection {

/// The socket that this client uses: ORANGE_SOCKET, which an agent's environment has, else the home's. A socket of runs
/// in another home does not count, because somebody has set ORANGE_HOME since.
std::filesystem::path daemon_socket(const Paths& paths);

/// `forbidden` if ORANGE_SOCKET counts, but no agent started this client.
Result<void> check_daemon_socket(const Paths& paths);

/// Connection::open() with daemon_socket(). With ORANGE_SOCKET nothing of the home is looked at. `forbidden` as
/// check_daemon_socket(), `not_found` if the run that the socket was of has ended.
Result<Connection> open_daemon(const Paths& paths, std::chrono::milliseconds deadline, Patience patience = {});

}  // namespace orange::connection
