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

/// Wraps the coroutines and timers of Asio. All coroutines of the daemon start here; exceptions that escape one are
/// bugs, and go to the escalation handler. The code works with Asio 1.22, which has no cancel_after, and later. The
/// daemon has one io_context with one thread and no mutex, and everything here is called on that thread.
namespace orange::async {

/// The executor of coroutines: the daemon's one io_context.
using Executor = asio::any_io_executor;

/// Called by spawn() if an exception escapes a coroutine, which is a bug. app sets it once; the default is
/// std::terminate.
using Escalation = std::function<void(const std::string& name, const std::string& what)>;
void set_escalation(Escalation escalation);

/// Starts a coroutine that runs independently. Use it instead of asio::detached, which swallows exceptions. `name` is
/// for the log.
void spawn(const asio::any_io_executor& executor, std::string name, Awaitable<void> coroutine);

/// Ends a spawned coroutine, by stop() or by destruction.
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
/// Starts a coroutine as spawn() does. Keep the Stopper: its destruction ends the coroutine.
Stopper spawn_stoppable(const asio::any_io_executor& executor, std::string name, Awaitable<void> coroutine);

/// Returns the executor of the calling coroutine.
Awaitable<Executor> this_executor();

/// Lets all other ready work run first: for loops over data that may be large.
Awaitable<void> yield();

/// Waits on the calling coroutine's executor. Returns false if it was cancelled.
Awaitable<bool> sleep(std::chrono::milliseconds time);

/// A signal between coroutines. wait() returns at the next notify(), or at once if notify() was called since the last
/// wait. At most one coroutine may wait. Returns false if the deadline passed or the waiter was cancelled.
class Wakeup {
  public:
    explicit Wakeup(const asio::any_io_executor& executor);
    void notify();
    Awaitable<bool> wait(std::chrono::milliseconds deadline);
    Awaitable<bool> wait();

  private:
    Awaitable<bool> wait_until(Moment due);

    Alarm alarm_;
    bool pending_ = false;
};

/// An asynchronous lock, first come first served; each task and each repository has one.
class Mutex {
  public:
    explicit Mutex(const asio::any_io_executor& executor) : executor_(executor) {}
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    /// Holds the lock until destruction. Movable.
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

    /// Waits for the lock. A shared_ptr must own the mutex, because the lock keeps it alive.
    static Awaitable<Lock> acquire(std::shared_ptr<Mutex> self);
    bool busy() const { return held_; }
    bool idle() const { return !held_ && waiters_.empty(); }

  private:
    asio::any_io_executor executor_;
    bool held_ = false;
    std::deque<std::shared_ptr<Wakeup>> waiters_;
};

}  // namespace orange::async
