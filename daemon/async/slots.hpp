#pragma once

#include <asio/error.hpp>
#include <cstddef>
#include <memory>
#include <system_error>

#include "daemon/async/async.hpp"

namespace orange::async {

/// Limits the number of coroutines that do something at the same time; first come, first served.
class Slots {
  public:
    Slots(const Executor& executor, std::size_t count)
        : door_(std::make_shared<Mutex>(executor)), state_(std::make_shared<State>(executor, count)) {}

    /// Holds the slot until the last copy is destroyed, which may be after the Slots.
    using Slot = std::shared_ptr<void>;

    Awaitable<Slot> take() {
        const auto state = state_;
        const auto door = co_await Mutex::acquire(door_);  // only one coroutine at a time waits for a free slot
        while (state->free == 0) {
            const bool freed = co_await state->freed.wait();
            if (!freed) throw std::system_error(asio::error::operation_aborted);
        }
        --state->free;
        co_return Slot(nullptr, [state](void*) {
            if (state->free++ == 0) state->freed.notify();
        });
    }

  private:
    struct State {
        State(const Executor& executor, std::size_t count) : free(count), freed(executor) {}
        std::size_t free;
        Wakeup freed;
    };
    std::shared_ptr<Mutex> door_;
    std::shared_ptr<State> state_;
};

}  // namespace orange::async
