#pragma once

#include <asio/any_io_executor.hpp>
#include <deque>
#include <memory>

#include "daemon/async/async.hpp"

namespace orange::rpc {

/// Decides which call begins next. One begins at a time, and connections take turns: between two waiting calls of one
/// connection, each other connection with waiting calls begins one. The event loop runs between two calls, so that
/// other work that is ready (a reply to be written, a child that has ended) waits for a single call at most.
class CallScheduler {
  public:
    /// A connection's place in the round: its calls begin in the order in which they came.
    class Place {
        friend class CallScheduler;
        std::deque<std::shared_ptr<async::Notifier>> waiting_;
    };

    explicit CallScheduler(const asio::any_io_executor& executor) : executor_(executor) {}
    CallScheduler(const CallScheduler&) = delete;
    CallScheduler& operator=(const CallScheduler&) = delete;

    /// Returns when it is the turn of the connection with this place.
    Awaitable<void> wait_for_turn(std::shared_ptr<Place> place);

  private:
    Awaitable<void> go_round();

    asio::any_io_executor executor_;
    std::deque<std::shared_ptr<Place>> round_;  ///< places with waiting calls; each is there once
    bool going_ = false;
};

}  // namespace orange::rpc
