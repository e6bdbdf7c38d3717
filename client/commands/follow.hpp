#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "client/connection/event_stream.hpp"
#include "common/rpc/watch_methods.hpp"

/// How every command goes on looking: `events` and `task history` with --follow, `task wait`, `run --wait`, the demo.
namespace orange::commands {

using connection::EventStream;

/// Somebody who follows what happens.
struct Follower {
    using OnEvent = std::function<void(const rpc::EventNotification& event)>;

    OnEvent event = [](const rpc::EventNotification&) {};
    /// Asked after whatever came, and where nothing did, twice a second; true: that is enough.
    std::function<Result<bool>(EventStream::What came)> enough;
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    std::chrono::steady_clock::duration patience = std::chrono::hours(24 * 365);  ///< with no daemon there
};

/// Until it is enough; false where the time passed or a signal that was caught came (interrupts.hpp). Says on standard
/// error that the daemon went and came back; where none comes in time, that is `unavailable`.
Result<bool> follow(EventStream& stream, Follower follower);

/// The same until `task.wait` has an answer (`answer`; before that, how the task is) and `enough`, if any, agrees.
Result<bool> follow_task(EventStream& stream, rpc::TaskWait wait, Follower follower, rpc::TaskWait::Reply& answer);

/// Hands over what has happened by now and is still on its way.
void take_rest(EventStream& stream, const Follower::OnEvent& event);

}  // namespace orange::commands
