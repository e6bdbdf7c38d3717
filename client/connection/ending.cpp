#include "client/connection/ending.hpp"

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

#include "client/connection/connection.hpp"
#include "client/connection/daemon_socket.hpp"
#include "client/connection/process_facts.hpp"
#include "client/connection/wait.hpp"
#include "common/base/try.hpp"
#include "common/config/home_lock.hpp"
#include "common/rpc/daemon_methods.hpp"

namespace orange::connection {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds k_deadline{20};
/// A healthy daemon ends faster.
constexpr std::chrono::seconds k_deadline_before_force{10};
constexpr std::chrono::seconds k_kill_deadline{5};

/// The result of a request to end. `left` is a daemon that still runs, and `why` the reason.
struct Outcome {
    Ended ended = Ended::none_ran;
    std::optional<pid_t> left = {};
    Error why = {};
};

Error still_runs(pid_t daemon) {
    if (daemon <= 0) {
        return {
            ErrorCode::timeout,
            "oranged did not stop, and cannot be killed from here: its process is not known, for example because it "
            "runs in another container. Run there:\n  orange daemon restart --force"};
    }
    return {ErrorCode::timeout, "oranged (pid " + std::to_string(daemon) +
                                    ") did not stop. To kill it and start another:\n  orange daemon "
                                    "restart --force"};
}

/// Checks the program, because the pid may have been reused.
bool is_daemon(pid_t pid) {
    const auto process = process_facts(pid);
    return process && !process->ended && process->name.starts_with("oranged");
}

/// Waits for the process as well: a daemon releases its lock a moment before its process ends.
bool ended_until(pid_t daemon, const Paths& paths, steady_clock::time_point until) {
    return wait_until(until, k_look_again, [&] { return lock_holder(paths) != daemon && !is_daemon(daemon); });
}

/// Asks the daemon to end, and waits for it. Another daemon may take the lock meanwhile.
Result<void> end(Connection& daemon, const Paths& paths, steady_clock::time_point until) {
    auto reply = daemon.call(rpc::DaemonShutdown{});
    // The daemon may end before its reply is sent, which is a success.
    if (!reply && reply.error().code != ErrorCode::unavailable) return reply.error();
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    const bool ended = daemon.wait_for_end(left) && ended_until(daemon.daemon(), paths, until);
    return ended ? Result<void>{} : still_runs(daemon.daemon());
}

/// Tries once; nothing if a daemon is starting or ending and accepts no request.
std::optional<Result<Outcome>> try_to_end(const Paths& paths, steady_clock::time_point until) {
    auto daemon = open_daemon(paths, k_connect_deadline);
    const auto holder = lock_holder(paths);
    if (daemon) {
        auto over = end(*daemon, paths, until);
        if (over) return Outcome{Ended::by_itself};
        if (over.error().code != ErrorCode::timeout) return over.error();
        return Outcome{Ended::by_itself, daemon->daemon(), over.error()};
    }
    const bool is_full = daemon.error().code == ErrorCode::timeout;
    if (is_full && holder) return Outcome{Ended::by_itself, *holder, daemon.error()};
    if (daemon.error().code != ErrorCode::unavailable) return daemon.error();
    if (!holder) return Outcome{Ended::none_ran};
    if (steady_clock::now() >= until) return Outcome{Ended::by_itself, *holder, still_runs(*holder)};
    return std::nullopt;
}

Result<Outcome> ask_for_end(const Paths& paths, steady_clock::time_point until) {
    auto outcome = wait_until(until, k_look_again, [&] { return try_to_end(paths, until); });
    if (!outcome) outcome = try_to_end(paths, until);  // after the deadline it always returns a result
    return std::move(*outcome);
}

}  // namespace

Result<Ended> end_daemon(const Paths& paths) {
    TRY(const auto outcome, ask_for_end(paths, steady_clock::now() + k_deadline));
    if (outcome.left) return outcome.why;
    return outcome.ended;
}

Result<Ended> end_daemon_by_force(const Paths& paths) {
    TRY(const auto outcome, ask_for_end(paths, steady_clock::now() + k_deadline_before_force));
    if (!outcome.left) return outcome.ended;
    // A killed daemon's lock may have passed to a child, and its pid to any process.
    const auto pid = *outcome.left;
    if (!is_daemon(pid)) return outcome.why;
    ::kill(pid, SIGKILL);
    if (!ended_until(pid, paths, steady_clock::now() + k_kill_deadline)) return still_runs(pid);
    return Ended::by_force;
}

}  // namespace orange::connection
