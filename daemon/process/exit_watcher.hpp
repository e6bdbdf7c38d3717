#pragma once

#include <cstdint>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"

namespace orange {

/// Watches processes that are not children of the daemon, such as the shim of an agent in a tmux pane.
class ExitWatcher {
  public:
    virtual ~ExitWatcher() = default;

    /// Waits until that process has ended; returns at once if it has, or if the pid has another start time because it
    /// was reused. Cancellable. After an error the process may be alive or not.
    virtual Awaitable<Result<void>> wait(std::int64_t pid, std::int64_t start_time) = 0;

    /// Returns the start time of a process, in clock ticks since boot. not_found if there is no such process, or it is
    /// a zombie; another error if it cannot be examined, so that it may be alive or not.
    virtual Result<std::int64_t> start_time(std::int64_t pid) = 0;
};

}  // namespace orange
