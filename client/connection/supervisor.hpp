#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "common/config/paths.hpp"

namespace orange::connection {

/// Doubles the delay before each start of a crashed daemon. Returns nothing at the fifth crash within a minute, because
/// a sixth start would not help.
class CrashBudget {
  public:
    using Clock = std::chrono::steady_clock;
    std::optional<std::chrono::milliseconds> delay_after_crash(Clock::time_point now);

  private:
    int crashes_ = 0;
    Clock::time_point first_{};
};

/// Runs as the daemon's parent (`orange daemon supervise`, started by autostart, not by people). The supervisor runs
/// `oranged`, and restarts it after a crash with a delay that doubles; after five crashes within a minute it gives up.
/// The supervisor ends when the daemon exits with 0, or with 75 while another one listens. SIGTERM is
/// forwarded. The starter has set its descriptors: output to oranged.out, and as 3 a pipe whose end shows the starter
/// that this process has ended.
int supervise(const std::filesystem::path& oranged, const Paths& paths);

}  // namespace orange::connection
