#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/result.hpp"
#include "common/base/system.hpp"
#include "common/posix/fd.hpp"

namespace orange::dashboard {

/// A function that takes long, in a thread of its own, so that keys work meanwhile. The thread is detached: q must not
/// wait for it. Whoever destroys this object gives up the result, and the thread goes on until its end.
template <class T>
class Background {
  public:
    /// Starts `work`, which may only use what it owns. Gives up the result of an earlier one.
    Result<void> start(std::function<T()> work) {
        int ends[2];
        if (system::make_pipe(ends) != 0) return io_error("making a pipe", errno);
        done_ = UniqueFd(ends[0]);
        outcome_ = std::make_shared<Outcome>();
        // The main thread takes the signals: a thread inherits the mask.
        sigset_t all, before;
        sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, &before);
        std::thread([outcome = outcome_, work = std::move(work), end = UniqueFd(ends[1])]() mutable {
            outcome->value.emplace(work());
            outcome->is_there.store(true);
            end.reset();
        }).detach();
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return {};
    }
    /// Returns true until take() has returned the result.
    bool is_running() const { return outcome_ != nullptr; }
    /// Returns the descriptor to poll, which is readable when the result is there; -1 if nothing runs.
    int descriptor() const { return done_.get(); }
    /// Returns the result once; nothing if it is not there yet.
    std::optional<T> take() {
        if (!outcome_ || !outcome_->is_there.load()) return std::nullopt;
        done_.reset();
        return std::move(std::exchange(outcome_, nullptr)->value);
    }

  private:
    struct Outcome {
        std::atomic<bool> is_there = false;
        std::optional<T> value;
    };
    std::shared_ptr<Outcome> outcome_;
    UniqueFd done_;
};

}  // namespace orange::dashboard
