#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"
#include "common/posix/fd.hpp"

namespace orange {

/// Acquires the daemon's home: creates it with mode 0700 if it does not exist, checks it (owned by this user, closed to
/// other users, no symlink, no clone of a repository) and locks it. A home that was made by hand is closed to other
/// users before its first daemon uses it. The lock is held until the process ends, is never inherited, and its file is
/// never removed.
class Home {
  public:
    /// Longer than a daemon needs to end, or to begin to listen.
    static constexpr std::chrono::milliseconds k_patience{10'000};

    /// Makes and checks the folder, and takes its lock. A holder of the lock that does not listen, or whose daemon was
    /// killed, begins or ends: acquire() waits for it, and returns timeout after `patience`. conflict if another daemon
    /// works here (its pid is in the message); forbidden, with the command that repairs it, if the folder is not safe.
    static Result<Home> acquire(const Paths& paths, std::chrono::milliseconds patience = k_patience);

    Home(Home&& other) noexcept = default;
    Home& operator=(Home&&) = delete;

    enum class State { here, missing, another };
    /// Returns what is at the home's path now: the locked folder, nothing that is visible, or something else.
    State state() const;
    /// The path with links resolved, as it was when the lock was taken.
    const std::filesystem::path& path() const { return path_; }
    /// Returns true if the folder was open to other users until acquire() closed it.
    bool was_closed() const { return was_closed_; }
    /// Returns true if a daemon has worked here before, and none since the machine was started.
    bool is_first_since_boot() const { return first_since_boot_; }

  private:
    explicit Home(UniqueFd lock) : lock_(std::move(lock)) {}
    UniqueFd lock_;
    std::filesystem::path path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    bool was_closed_ = false;
    bool first_since_boot_ = false;
};

/// Decides what a daemon does if its home is moved, removed or replaced while it runs. If the home is gone for a
/// moment, the daemon waits. If it is gone for longer, or something else is in its place, the daemon ends, so that the
/// next one may take what is there.
class HomeWatch {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds k_patience{60};

    explicit HomeWatch(const Home& home) : home_(home) {}

    struct Finding {
        bool here = true;
        bool over = false;  ///< the daemon has to end
        std::string note;   ///< for the log; empty if nothing has changed
    };
    Finding check(Clock::time_point now);

  private:
    const Home& home_;
    std::optional<Clock::time_point> missing_since_;
};

}  // namespace orange
