#pragma once

#include <cstdint>
#include <optional>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"

namespace orange {

/// Watches processes that are not our children (an agent's shim in a tmux pane).
class ExitWatcher {
  public:
    virtual ~ExitWatcher() = default;

    /// Completes when that process is gone; at once where it is gone already or the pid has another start time
    /// (reused). Cancellable.
    virtual Awaitable<Result<void>> wait(std::int64_t pid, std::int64_t start_time) = 0;

    /// When that pid was started, in clock ticks since boot; nothing where there is no such process (or a zombie).
    virtual std::optional<std::int64_t> start_time(std::int64_t pid) = 0;
};

}  // namespace orange
