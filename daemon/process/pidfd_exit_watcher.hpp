#pragma once

#include "daemon/process/exit_watcher.hpp"

namespace orange {

/// The real ExitWatcher. A pidfd (on macOS a kqueue) reports the end of a process that is not a child, without its
/// status.
class PidfdExitWatcher final : public ExitWatcher {
  public:
    Awaitable<Result<void>> wait(std::int64_t pid, std::int64_t start_time) override;
    Result<std::int64_t> start_time(std::int64_t pid) override;
};

}  // namespace orange
