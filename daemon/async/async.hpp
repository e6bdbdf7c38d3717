#pragma once

#include <asio/any_io_executor.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/async/time.hpp"

/// Wraps the coroutines and timers of Asio that the daemon uses. Works with Asio 1.22, which has no cancel_after, and
/// later. There is one io_context with one thread and no mutex; everything here is called on that thread.
namespace orange::async {

/// Where coroutines run: the daemon's one io_context.
using Executor = asio::any_io_executor;

/// What spawn() does with an exception that escapes a coroutine: a bug. Set once by app; by default std::terminate.
using Escalation = std::function<void(const std::string& name, const std::string& what)>;
void set_escalation(Escalation escalation);

/// Runs a coroutine on its own. Never asio::detached, which swallows exceptions. `name` is for the log.
void spawn(const asio::any_io_executor& executor, std::string name, Awaitable<void> coroutine);

/// Cancels what it was given to: keep it, and call cancel() (or destroy it) to end a spawned coroutine.
class Stopper {
  public:
    Stopper();
    ~Stopper();
    Stopper(Stopper&&) noexcept;
    Stopper& operator=(Stopper&&) noexcept;
    void stop();

  private:
    friend Stopper spawn_stoppable(const asio::any_io_executor&, std::string, Awaitable<void>);
    struct Slot;
    std::shared_ptr<Slot> slot_;
};
Stopper spawn_stoppable(const asio::any_io_executor& executor, std::string name, Awaitable<void> coroutine);

/// The one that the calling coroutine runs on.
Awaitable<Executor> this_executor();

/// Lets everything else that is ready have its turn: for loops over what a client may send a thousand times.
Awaitable<void> yield();

/// Waits on the calling coroutine's executor. False where it was cancelled.
Awaitable<bool> sleep(std::chrono::milliseconds time);

/// A signal between coroutines: wait() returns at the next notify(), or at once where one came since the last wait. At
/// most one waiter. False where the deadline passed or the waiter was cancelled.
class Notifier {
  public:
    explicit Notifier(const asio::any_io_executor& executor);
    void notify();
    Awaitable<bool> wait(std::chrono::milliseconds deadline);
    Awaitable<bool> wait();

  private:
    Awaitable<bool> wait_until(Moment due);

    Alarm alarm_;
    bool pending_ = false;
};

/// An asynchronous lock, first come first served: a task has one, a repository has one.
class Mutex {
  public:
    explicit Mutex(const asio::any_io_executor& executor) : executor_(executor) {}
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    /// Held until destroyed. Movable.
    class Lock {
      public:
        Lock() = default;
        Lock(Lock&& other) noexcept : mutex_(std::move(other.mutex_)) {}
        Lock& operator=(Lock&& other) noexcept;
        ~Lock() { release(); }
        void release();

      private:
        friend class Mutex;
        explicit Lock(std::shared_ptr<Mutex> mutex) : mutex_(std::move(mutex)) {}
        std::shared_ptr<Mutex> mutex_;
    };

    /// The mutex must be owned by a shared_ptr: a lock keeps it alive.
    static Awaitable<Lock> acquire(std::shared_ptr<Mutex> self);
    bool busy() const { return held_; }
    bool idle() const { return !held_ && waiters_.empty(); }

  private:
    asio::any_io_executor executor_;
    bool held_ = false;
    std::deque<std::shared_ptr<Notifier>> waiters_;
};

}  // namespace orange::async
