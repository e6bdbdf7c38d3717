#include "daemon/async/async.hpp"
#include "daemon/async/use_tuple.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <exception>

namespace orange::async {
namespace {

Escalation& escalation() {
    static Escalation handler = [](const std::string&, const std::string&) { std::terminate(); };
    return handler;
}

void report(const std::string& name, std::exception_ptr failure) {
    if (!failure) return;
    try {
        std::rethrow_exception(failure);
    } catch (const std::system_error& e) {
        if (e.code() == asio::error::operation_aborted) return;  // cancelled: how coroutines are ended
        escalation()(name, e.what());
    } catch (const std::exception& e) {
        escalation()(name, e.what());
    } catch (...) {
        escalation()(name, "an exception of an unknown type");
    }
}

}  // namespace

void set_escalation(Escalation handler) {
    escalation() = std::move(handler);
}

void spawn(const asio::any_io_executor& executor, std::string name, Awaitable<void> coroutine) {
    asio::co_spawn(executor, std::move(coroutine),
                   [name = std::move(name)](std::exception_ptr failure) { report(name, failure); });
}

struct Stopper::Slot {
    asio::cancellation_signal signal;
    bool ended = false;
};

Stopper::Stopper() = default;
Stopper::~Stopper() {
    stop();
}
Stopper::Stopper(Stopper&&) noexcept = default;
Stopper& Stopper::operator=(Stopper&& other) noexcept {
    if (this != &other) {
        stop();
        slot_ = std::move(other.slot_);
    }
    return *this;
}

void Stopper::stop() {
    if (auto slot = std::move(slot_); slot && !slot->ended) slot->signal.emit(asio::cancellation_type::terminal);
}

Stopper spawn_stoppable(const asio::any_io_executor& executor, std::string name, Awaitable<void> coroutine) {
    Stopper stopper;
    stopper.slot_ = std::make_shared<Stopper::Slot>();
    auto slot = stopper.slot_;  // the handler keeps the signal alive for as long as the coroutine may look at it
    // It goes with the coroutine, whether that ends or its io_context does first: then nothing is left to be told.
    const auto signal = slot->signal.slot();
    std::shared_ptr<void> ended(nullptr, [slot = std::move(slot)](void*) { slot->ended = true; });
    asio::co_spawn(executor, std::move(coroutine),
                   asio::bind_cancellation_slot(signal, [ended = std::move(ended), name = std::move(name)](
                                                            std::exception_ptr failure) { report(name, failure); }));
    return stopper;
}

Awaitable<Executor> this_executor() {
    co_return co_await asio::this_coro::executor;
}

Awaitable<void> yield() {
    co_await asio::post(asio::use_awaitable);
}

Awaitable<bool> sleep(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    const auto [error] = co_await timer.async_wait(use_tuple);
    co_return !error;
}

Notifier::Notifier(const asio::any_io_executor& executor) : timer_(executor) {}

void Notifier::notify() {
    pending_ = true;
    timer_.cancel();
}

Awaitable<bool> Notifier::wait(std::chrono::milliseconds deadline) {
    if (!pending_) {
        timer_.expires_after(deadline);
        co_await timer_.async_wait(use_tuple);
    }
    const bool notified = pending_;
    pending_ = false;
    co_return notified;
}

Awaitable<bool> Notifier::wait() {
    // Half of the clock's range: adding the whole of it to now() would overflow.
    return wait(std::chrono::hours(24 * 365 * 10));
}

Mutex::Lock& Mutex::Lock::operator=(Lock&& other) noexcept {
    if (this != &other) {
        release();
        mutex_ = std::move(other.mutex_);
    }
    return *this;
}

void Mutex::Lock::release() {
    const auto mutex = std::move(mutex_);
    mutex_.reset();
    if (!mutex) return;
    if (mutex->waiters_.empty()) {
        mutex->held_ = false;
        return;
    }
    // The lock passes on without ever being free, so that nobody can come in between.
    const auto next = mutex->waiters_.front();
    mutex->waiters_.pop_front();
    next->cancel();
}

Awaitable<Mutex::Lock> Mutex::acquire(std::shared_ptr<Mutex> self) {
    if (!self->held_) {
        self->held_ = true;
        co_return Lock(self);
    }
    auto turn = std::make_shared<asio::steady_timer>(self->executor_, asio::steady_timer::time_point::max());
    self->waiters_.push_back(turn);
    co_await turn->async_wait(use_tuple);
    // Woken by release(): ours. Cancelled from outside while still queued: leave the queue and give up.
    for (auto waiting = self->waiters_.begin(); waiting != self->waiters_.end(); ++waiting) {
        if (*waiting == turn) {
            self->waiters_.erase(waiting);
            throw std::system_error(asio::error::operation_aborted);
        }
    }
    co_return Lock(self);
}

}  // namespace orange::async
