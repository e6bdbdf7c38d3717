#pragma once

#include <cstdint>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"

namespace orange {

/// Watches processes that are not our children (an agent's shim in a tmux pane).
class ExitWatcher {
  public:
    virtual ~ExitWatcher() = default;

    /// Completes when that process is gone; at once where it is gone already or the pid has another start time
    /// (reused). Cancellable. An error says nothing of it.
    virtual Awaitable<Result<void>> wait(std::int64_t pid, std::int64_t start_time) = 0;

    /// When that pid was started, in clock ticks since boot. not_found where there is no such process (or a zombie);
    /// another error where it cannot be looked at: then it may live or not.
    virtual Result<std::int64_t> start_time(std::int64_t pid) = 0;
};

}  // namespace orange
