#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "client/commands/context.hpp"
#include "client/connection/event_stream.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::commands {

/// How following a task ended.
struct Followed {
    bool ready = false;  ///< it can be merged, or is done
    std::string reason;  ///< a sentence: what it waits for
    rpc::TaskView task;  ///< as it is now; as it was last where it is gone
};

/// Follows one task through the event stream until somebody is needed: it can be merged, has ended, has questions, is
/// stuck, or asks for attention. Opened before the task is created, so that nothing is missed. Where the daemon goes
/// away it is waited for, and the task looked at anew.
class TaskFollower {
  public:
    using OnEvent = std::function<void(const Json& event)>;

    explicit TaskFollower(Context& context) : context_(context), stream_(context.paths, rpc::EventsSubscribe{}) {}

    /// Events of all tasks are kept from here on, until it is known whose are wanted.
    Result<void> open();

    /// `timeout` where SIGINT or SIGTERM came: only the following ends.
    Result<Followed> follow(const std::string& id, OnEvent on_event);

  private:
    /// Takes what has happened, or waits a moment for it. True where the task has to be looked at again.
    Result<bool> news(const std::string& id, const OnEvent& on_event);

    /// How it ended; nothing while the task goes on by itself. `task`: as it is now.
    Result<std::optional<Followed>> ended(const std::string& id, rpc::TaskView& task);

    void tell_rest(const std::string& id, const OnEvent& on_event);

    Context& context_;
    connection::EventStream stream_;
    std::optional<std::chrono::steady_clock::time_point> lost_at_;  ///< when the daemon went away
};

}  // namespace orange::commands
