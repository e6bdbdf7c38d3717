#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "client/connection/event_stream.hpp"
#include "common/rpc/watch_methods.hpp"

/// The way in which all commands follow a task: `events` and `task history` with --follow, `task wait`, `run --wait`,
/// the demo.
namespace orange::commands {

using connection::EventStream;

/// The time that a command which waits for a task waits for the next daemon. After a crash a daemon is back sooner.
inline constexpr std::chrono::seconds k_daemon_patience{15};

/// The actions of a command that follows a stream.
struct Follower {
    using OnEvent = std::function<void(const rpc::EventNotification& event)>;

    OnEvent event = [](const rpc::EventNotification&) {};
    /// Called after each message, and twice a second if none comes. Returns true to stop.
    std::function<Result<bool>(const EventStream::Next& came)> enough;
    std::function<bool()> has_reader = [] { return true; };  ///< false: nobody waits for the end any more
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    std::chrono::steady_clock::duration patience = std::chrono::hours(24 * 365);  ///< how long to wait for a daemon
};

/// Follows the stream until `enough` returns true; false if the time passed, a caught signal came (interrupts.hpp) or
/// the reader has gone. Reports on standard error that the daemon ended and came back; `unavailable` if none comes in
/// time.
Result<bool> follow(EventStream& stream, Follower follower);

/// Follows the stream until the daemon answers `task.wait` (with the reply in `answer`) and `enough`, if set, agrees.
/// The call stays open all the time, so that the daemon reports even a short state. A new daemon gets the call again.
Result<bool> follow_task(EventStream& stream, rpc::TaskWait wait, Follower follower, rpc::TaskWait::Reply& answer);

/// Passes on events that have happened but are not delivered yet.
void take_rest(EventStream& stream, const Follower::OnEvent& event);

}  // namespace orange::commands
