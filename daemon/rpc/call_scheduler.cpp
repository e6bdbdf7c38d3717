#include "daemon/rpc/call_scheduler.hpp"

#include <utility>

namespace orange::rpc {

Awaitable<void> CallScheduler::wait_for_turn(std::shared_ptr<Line> place) {
    const auto turn = std::make_shared<async::Wakeup>(executor_);
    if (place->waiting_.empty()) round_.push_back(place);
    place->waiting_.push_back(turn);
    if (!std::exchange(going_, true)) async::spawn(executor_, "rpc calls", go_round());
    co_await turn->wait();
}

Awaitable<void> CallScheduler::go_round() {
    co_await async::yield();  // a coroutine runs at once, so the caller of this one has not begun to wait yet
    while (!round_.empty()) {
        const auto place = std::move(round_.front());
        round_.pop_front();
        const auto turn = std::move(place->waiting_.front());
        place->waiting_.pop_front();
        if (!place->waiting_.empty()) round_.push_back(place);
        turn->notify();
        co_await async::yield();
    }
    going_ = false;
}

}  // namespace orange::rpc
