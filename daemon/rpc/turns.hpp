#pragma once

#include <asio/any_io_executor.hpp>
#include <deque>
#include <memory>

#include "daemon/async/async.hpp"

namespace orange::rpc {

/// Who may begin a call next. One begins at a time, and connections take turns: between two calls of one connection
/// that both wait, each other connection that has some waiting begins one. Between two calls the loop runs, so that
/// whatever else is ready (a reply to be written, a child that has ended) waits for a single call at most.
class Turns {
  public:
    /// A connection's place in the round: its calls begin in the order in which they came.
    class Place {
        friend class Turns;
        std::deque<std::shared_ptr<async::Notifier>> waiting_;
    };

    explicit Turns(const asio::any_io_executor& executor) : executor_(executor) {}
    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;

    /// Returns when it is that place's turn.
    Awaitable<void> wait_for_turn(std::shared_ptr<Place> place);

  private:
    Awaitable<void> go_round();

    asio::any_io_executor executor_;
    std::deque<std::shared_ptr<Place>> round_;  ///< those that wait; each is there once
    bool going_ = false;
};

}  // namespace orange::rpc
