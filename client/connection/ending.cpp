#include "client/connection/ending.hpp"

#include <chrono>
#include <string>
#include <thread>

#include "client/connection/connection.hpp"
#include "common/config/home_lock.hpp"
#include "common/rpc/daemon_methods.hpp"

namespace orange::connection {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds k_connect_deadline{5000};
constexpr std::chrono::seconds k_deadline{20};
constexpr milliseconds k_step{10};

Error still_runs(pid_t daemon) {
    return {ErrorCode::timeout, "oranged (pid " + std::to_string(daemon) + ") was to end, but still runs after 20 s"};
}

/// Asks for the end and waits for it. Another daemon may have the lock by then.
Result<void> end(Connection& daemon, const Paths& paths, steady_clock::time_point until) {
    auto reply = daemon.call(rpc::DaemonShutdown{});
    // It may be gone before its reply is out: that is what was asked for.
    if (!reply && reply.error().code != ErrorCode::unavailable) return reply.error();
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    if (!daemon.wait_for_end(left)) return still_runs(daemon.daemon());
    while (lock_holder(paths) == daemon.daemon()) {
        if (steady_clock::now() >= until) return still_runs(daemon.daemon());
        std::this_thread::sleep_for(k_step);
    }
    return {};
}

}  // namespace

Result<bool> end_daemon(const Paths& paths) {
    const auto until = steady_clock::now() + k_deadline;
    for (;;) {
        auto daemon = Connection::open(paths.socket(), k_connect_deadline);
        if (daemon) {
            if (auto ended = end(*daemon, paths, until); !ended) return ended.error();
            return true;
        }
        if (daemon.error().code != ErrorCode::unavailable) return daemon.error();
        const auto holder = lock_holder(paths);
        if (!holder) return false;
        if (steady_clock::now() >= until) return still_runs(*holder);
        std::this_thread::sleep_for(k_step);
    }
}

}  // namespace orange::connection
