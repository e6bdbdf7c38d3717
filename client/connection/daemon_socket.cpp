#include "client/connection/daemon_socket.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "client/connection/autostart.hpp"
#include "common/base/try.hpp"

namespace orange::connection {
namespace {

/// Compares only names, because the home of an agent in a container may be unreadable.
bool is_in_another_home(const std::filesystem::path& socket, const Paths& paths) {
    const auto runs = socket.parent_path().parent_path();
    return runs.filename() == paths.sockets_of_runs().filename() && runs != paths.sockets_of_runs();
}

/// Returns true if the folder of the run's socket is gone. The folder is removed at the run's end, and stays while no
/// daemon runs.
bool has_ended(const std::filesystem::path& socket) {
    struct stat facts {};
    return ::stat(socket.parent_path().c_str(), &facts) != 0 && errno == ENOENT;
}

}  // namespace

std::filesystem::path daemon_socket(const Paths& paths) {
    const char* variable = std::getenv("ORANGE_SOCKET");
    const std::filesystem::path given = variable ? variable : "";
    return given.empty() || is_in_another_home(given, paths) ? paths.socket() : given;
}

Result<void> check_daemon_socket(const Paths& paths) {
    if (daemon_socket(paths) == paths.socket() || inside_agent()) return {};
    return {ErrorCode::forbidden,
            "ORANGE_SOCKET is set, which only an agent's environment has. In a shell of your own, remove it:\n"
            "  unset ORANGE_SOCKET"};
}

Result<Connection> open_daemon(const Paths& paths, std::chrono::milliseconds deadline, Patience patience) {
    TRY(check_daemon_socket(paths));
    const auto socket = daemon_socket(paths);
    auto opened = Connection::open(socket, deadline, patience);
    if (opened || socket == paths.socket() || !has_ended(socket)) return opened;
    return {ErrorCode::not_found, "the agent's run has ended, and its socket " + socket.string() +
                                      " was removed. If you are the agent, stop. In a human's shell, run:\n"
                                      "  unset ORANGE_SOCKET ORANGE_TASK"};
}

}  // namespace orange::connection
