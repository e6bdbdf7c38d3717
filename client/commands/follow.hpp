#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "client/connection/event_stream.hpp"
#include "common/rpc/watch_methods.hpp"

/// How every command follows a task: `events` and `task history` with --follow, `task wait`, `run --wait`, the demo.
namespace orange::commands {

using connection::EventStream;

/// How long a command that waits for a task waits for a daemon that has stopped. One that crashed is back sooner.
inline constexpr std::chrono::seconds k_daemon_patience{15};

/// What a command does with what it follows.
struct Follower {
    using OnEvent = std::function<void(const rpc::EventNotification& event)>;

    OnEvent event = [](const rpc::EventNotification&) {};
    /// Called after each thing that came, and twice a second if nothing did; true: that is enough.
    std::function<Result<bool>(const EventStream::Next& came)> enough;
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    std::chrono::steady_clock::duration patience = std::chrono::hours(24 * 365);  ///< without a daemon
};

/// Until it is enough; false if the time passed or a signal that was caught came (interrupts.hpp). Says on standard
/// error that the daemon went and came back; if none comes in time, that is `unavailable`.
Result<bool> follow(EventStream& stream, Follower follower);

/// The same until the daemon answers `task.wait` (the reply is in `answer`) and `enough`, if any, agrees. The call
/// stays open meanwhile, so that the daemon misses no state, however short; a daemon that comes back is asked again.
Result<bool> follow_task(EventStream& stream, rpc::TaskWait wait, Follower follower, rpc::TaskWait::Reply& answer);

/// Hands over what has happened by now and is still on its way.
void take_rest(EventStream& stream, const Follower::OnEvent& event);

}  // namespace orange::commands
