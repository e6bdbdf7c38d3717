#include "daemon/async/async.hpp"
#include "daemon/async/use_tuple.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <exception>
#include <utility>

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
        if (e.code() == asio::error::operation_aborted) return;  // a cancellation, which is how coroutines are ended
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
    auto slot = stopper.slot_;  // the handler keeps the signal alive as long as the coroutine may use it
    // `ended` is destroyed together with the coroutine, when that returns or when its io_context is destroyed. After
    // that there is no coroutine to signal.
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
    Alarm alarm(co_await asio::this_coro::executor, time);
    const auto [error] = co_await alarm.async_wait(use_tuple);
    co_return !error;
}

Wakeup::Wakeup(const asio::any_io_executor& executor) : alarm_(executor) {}

void Wakeup::notify() {
    pending_ = true;
    alarm_.cancel();
}

Awaitable<bool> Wakeup::wait_until(Moment due) {
    if (!pending_) {
        alarm_.expires_at(due);
        co_await alarm_.async_wait(use_tuple);
    }
    co_return std::exchange(pending_, false);
}

Awaitable<bool> Wakeup::wait(std::chrono::milliseconds deadline) {
    return wait_until(now() + deadline);
}

Awaitable<bool> Wakeup::wait() {
    return wait_until(Moment::max());
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
    // The lock passes to the next waiter without being free in between, so that no other coroutine can take it.
    const auto next = mutex->waiters_.front();
    mutex->waiters_.pop_front();
    next->notify();
}

Awaitable<Mutex::Lock> Mutex::acquire(std::shared_ptr<Mutex> self) {
    if (!self->held_) {
        self->held_ = true;
        co_return Lock(self);
    }
    const auto turn = std::make_shared<Wakeup>(self->executor_);
    self->waiters_.push_back(turn);
    const bool is_ours = co_await turn->wait();
    if (!is_ours) {  // cancelled before release() passed the lock on
        std::erase(self->waiters_, turn);
        throw std::system_error(asio::error::operation_aborted);
    }
    co_return Lock(self);
}

}  // namespace orange::async
