#pragma once

#include <asio/any_io_executor.hpp>
#include <deque>
#include <memory>

#include "daemon/async/async.hpp"

namespace orange::rpc {

/// Decides which call begins next. Calls begin one at a time, and connections take turns: between two waiting calls of
/// one connection, every other connection with waiting calls begins one. The event loop runs between two calls, so that
/// other work that is ready (writing a reply, handling a child's exit) waits for one call at most.
class CallScheduler {
  public:
    /// The line of a connection's waiting calls. The calls of one connection begin in the order of their arrival.
    class Line {
        friend class CallScheduler;
        std::deque<std::shared_ptr<async::Wakeup>> waiting_;
    };

    explicit CallScheduler(const asio::any_io_executor& executor) : executor_(executor) {}
    CallScheduler(const CallScheduler&) = delete;
    CallScheduler& operator=(const CallScheduler&) = delete;

    /// Waits for the turn of the connection with this line.
    Awaitable<void> wait_for_turn(std::shared_ptr<Line> line);

  private:
    Awaitable<void> go_round();

    asio::any_io_executor executor_;
    std::deque<std::shared_ptr<Line>> round_;  ///< lines with waiting calls, each of them once
    bool going_ = false;
};

}  // namespace orange::rpc
