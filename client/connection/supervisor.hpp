#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <optional>

namespace orange::connection {

/// How long to wait before a crashed daemon is started again, and when to give up: five crashes within a minute are
/// not going to become better by a sixth.
class CrashBudget {
  public:
    using Clock = std::chrono::steady_clock;

    /// To be called at each crash; nothing: give up.
    std::optional<std::chrono::milliseconds> delay_after_crash(Clock::time_point now);

  private:
    std::deque<Clock::time_point> recent_;
};

/// The daemon's parent (`orange daemon supervise`, started by autostart, not by people): runs `oranged`, starts it
/// again when it crashes, ends when it exits 0 or finds another daemon at work (75) that still listens at `socket`.
/// SIGTERM is passed on. Its own descriptors were set by its starter: output to oranged.out, descriptor 3 a pipe whose
/// end tells the starter that this process is gone.
int supervise(const std::filesystem::path& oranged, const std::filesystem::path& socket);

}  // namespace orange::connection
