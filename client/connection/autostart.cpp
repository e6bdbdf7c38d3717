#include "client/connection/autostart.hpp"

#include <cstdlib>
#include <string_view>
#include <thread>

#include "client/connection/agent_ancestor.hpp"
#include "client/connection/start_daemon.hpp"
#include "common/rpc/daemon_methods.hpp"

namespace orange::connection {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds k_wait_inside_agent{5000};
constexpr milliseconds k_wait_for_next{5000};

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value && std::string_view(value) != "0";
}

bool is_absent(const Result<Connection>& tried) {
    return !tried && tried.error().code == ErrorCode::unavailable;
}

Error down(const Paths& paths, const std::string& advice) {
    return {ErrorCode::unavailable,
            "the daemon is not running (no answer at " + paths.socket().string() + ")" + advice};
}

Result<Connection> retry_for(const Paths& paths, milliseconds time) {
    const auto until = steady_clock::now() + time;
    for (;;) {
        auto tried = Connection::open(paths.socket(), k_connect_deadline);
        if (!is_absent(tried) || steady_clock::now() >= until) return tried;
        std::this_thread::sleep_for(k_look_again);
    }
}

}  // namespace

bool inside_agent() {
    return is_set("ORANGE_TASK") || has_agent_ancestor();
}

Result<Connection> connect(const Paths& paths) {
    auto tried = Connection::open(paths.socket(), k_connect_deadline);
    if (!is_absent(tried)) return tried;
    return down(paths, "\n  orange daemon start");
}

Result<Connection> connect_or_start(const Paths& paths) {
    auto tried = Connection::open(paths.socket(), k_connect_deadline);
    if (!is_absent(tried)) return tried;
    if (inside_agent()) {
        tried = retry_for(paths, k_wait_inside_agent);
        if (!is_absent(tried)) return tried;
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
    const auto until = steady_clock::now() + k_wait_for_next;
    while (steady_clock::now() < until) {
        auto tried = Connection::open(paths.socket(), k_connect_deadline);
        if (!tried && !is_absent(tried)) return std::nullopt;
        // The one that is dying may have taken the connection still.
        if (tried && tried->call(rpc::DaemonPing{})) return std::move(*tried);
        std::this_thread::sleep_for(k_look_again);
    }
    return std::nullopt;
}

Result<Connection> connect_to_next(const Paths& paths) {
    if (auto next = wait_for_next(paths)) return std::move(*next);
    return connect_or_start(paths);
}

}  // namespace orange::connection
