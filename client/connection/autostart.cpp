#include "client/connection/autostart.hpp"

#include <cstdlib>
#include <string_view>

#include "client/connection/agent_ancestor.hpp"
#include "client/connection/daemon_socket.hpp"
#include "client/connection/start_daemon.hpp"
#include "client/connection/wait.hpp"
#include "common/rpc/daemon_methods.hpp"

namespace orange::connection {
namespace {

using std::chrono::steady_clock;

/// The time for a restart of the daemon.
constexpr std::chrono::seconds k_wait{5};

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value && std::string_view(value) != "0";
}

/// Returns a connection, or an error that waiting cannot change; nothing if no daemon listens. `asks`: nothing also if
/// the daemon accepts the connection but does not answer a ping, because it is ending.
std::optional<Result<Connection>> look(const Paths& paths, bool asks = false) {
    auto tried = open_daemon(paths, k_connect_deadline);
    if (!tried && tried.error().code == ErrorCode::unavailable) return std::nullopt;
    if (tried && asks && !tried->call(rpc::DaemonPing{})) return std::nullopt;
    return tried;
}

Error down(const Paths& paths, const std::string& advice) {
    const auto socket = daemon_socket(paths);
    if (socket != paths.socket() && Connection::open(paths.socket(), k_connect_deadline)) {
        return {ErrorCode::unavailable, "the daemon runs, but does not serve this run (no answer at " +
                                            socket.string() +
                                            "): it cannot read the task, or has ended the run. Ask a human to run:\n"
                                            "  orange doctor"};
    }
    return {ErrorCode::unavailable,
            "the daemon is not running (no answer at " + daemon_socket(paths).string() + ")" + advice};
}

}  // namespace

bool inside_agent() {
    return is_set("ORANGE_TASK") || has_agent_ancestor();
}

Result<Connection> connect(const Paths& paths) {
    if (auto tried = look(paths)) return std::move(*tried);
    return down(paths, "\n  orange daemon start");
}

Result<Connection> connect_or_start(const Paths& paths) {
    if (auto tried = look(paths)) return std::move(*tried);
    if (inside_agent()) {
        auto tried = wait_until(steady_clock::now() + k_wait, k_look_again, [&] { return look(paths); });
        if (tried) return std::move(*tried);
        return down(
            paths,
            "; an agent cannot start it. Ask a human to start it, then repeat this command\n  orange daemon start");
    }
    if (is_set("ORANGE_NO_AUTOSTART")) {
        return down(paths, ", and ORANGE_NO_AUTOSTART is set\n  orange daemon start");
    }
    return start_daemon(paths);
}

std::optional<Connection> wait_for_next(const Paths& paths) {
    auto next = wait_until(steady_clock::now() + k_wait, k_look_again, [&] { return look(paths, true); });
    if (!next || !*next) return std::nullopt;
    return std::move(**next);
}

Result<Connection> connect_to_next(const Paths& paths) {
    if (auto next = wait_for_next(paths)) return std::move(*next);
    return connect_or_start(paths);
}

}  // namespace orange::connection
