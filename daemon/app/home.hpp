#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

namespace orange {

/// The daemon's hold on its home: made 0700 where it does not exist, checked (ours, closed to others, no symlink, no
/// clone of a repository), and locked. One that was made by hand is closed to others before its first daemon works
/// there. The lock is held until the process ends, is never inherited, and its file is never removed.
class Home {
  public:
    /// Longer than a daemon takes to end, or to begin to listen.
    static constexpr std::chrono::milliseconds k_patience{10'000};

    /// conflict where another daemon is at work (its pid is in the message). A holder of the lock that does not listen,
    /// or whose daemon was killed, is one that begins or ends: it is waited for, timeout after `patience`.
    /// forbidden, with the command that mends it, where the folder is not safe.
    static Result<Home> take(const Paths& paths, std::chrono::milliseconds patience = k_patience);

    Home(Home&& other) noexcept;
    Home& operator=(Home&&) = delete;
    ~Home();

    enum class State { here, missing, another };
    /// What is at its path now: the folder that was locked, nothing that can be seen, or something else.
    State state() const;
    /// With links resolved, as it was when it was taken.
    const std::filesystem::path& path() const { return path_; }
    /// It stood open to others until now.
    bool was_closed() const { return was_closed_; }
    /// A daemon has worked here before, and none since the machine was started.
    bool is_first_since_boot() const { return first_since_boot_; }

  private:
    explicit Home(int lock) : lock_(lock) {}
    int lock_;
    std::filesystem::path path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    bool was_closed_ = false;
    bool first_since_boot_ = false;
};

/// What a daemon makes of a home that was moved, removed or replaced while it runs: gone for a moment, it waits;
/// longer, or with something else in its place, it ends, so that the next one may take what is there.
class HomeWatch {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds k_patience{60};

    explicit HomeWatch(const Home& home) : home_(home) {}

    struct Look {
        bool here = true;
        bool over = false;  ///< the daemon is to end
        std::string note;   ///< to be logged; empty where nothing has changed
    };
    Look look(Clock::time_point now);

  private:
    const Home& home_;
    std::optional<Clock::time_point> missing_since_;
};

}  // namespace orange
