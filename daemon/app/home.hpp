#pragma once

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

namespace orange {

/// The daemon's hold on its home: made 0700 where it does not exist, checked (ours, closed to others, no symlink), and
/// locked. The lock is held until the process ends, is never inherited, and its file is never removed.
class Home {
  public:
    /// conflict where another daemon has it (its pid is in the message); forbidden, with the command that mends it,
    /// where the folder is not safe.
    static Result<Home> take(const Paths& paths);

    Home(Home&& other) noexcept;
    Home& operator=(Home&&) = delete;
    ~Home();

  private:
    explicit Home(int lock) : lock_(lock) {}
    int lock_;
};

}  // namespace orange
