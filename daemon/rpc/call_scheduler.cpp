#include "daemon/rpc/call_scheduler.hpp"

#include <utility>

namespace orange::rpc {

Awaitable<void> CallScheduler::wait_for_turn(std::shared_ptr<Line> line) {
    const auto turn = std::make_shared<async::Wakeup>(executor_);
    if (line->waiting_.empty()) round_.push_back(line);
    line->waiting_.push_back(turn);
    if (!std::exchange(going_, true)) async::spawn(executor_, "rpc calls", go_round());
    co_await turn->wait();
}

Awaitable<void> CallScheduler::go_round() {
    co_await async::yield();  // a coroutine runs at once, so the caller of this one has not begun to wait yet
    while (!round_.empty()) {
        const auto line = std::move(round_.front());
        round_.pop_front();
        const auto turn = std::move(line->waiting_.front());
        line->waiting_.pop_front();
        if (!line->waiting_.empty()) round_.push_back(line);
        turn->notify();
        co_await async::yield();
    }
    going_ = false;
}

}  // namespace orange::rpc
