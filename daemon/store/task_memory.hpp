#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/model/task.hpp"
#include "daemon/async/time.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/store/projections.hpp"

/// What TaskFiles remembers of a task between calls. Everything works without it, after a restart: it only makes the
/// answers better.
namespace orange::store {

/// A body that a copy showed: somebody may have read it, and may write back soon what he made of it.
struct Shown {
    std::string body;
    Timestamp since{};
    bool by_daemon = false;  ///< put there by the daemon, under the hands of whoever had read the one before
};

struct CopyMemory {
    Path path;
    std::vector<Shown> shown;  ///< oldest first; the last is what it shows now
};

/// A file that was exchanged out of its place, until nobody can write to it any more.
struct Displaced {
    Path path;
    std::string base;       ///< its body as of the last completed call; where one fails, it is counted from here again
    std::string accounted;  ///< its body as far as it has gone into the task's
    bool of_mirror = false;
    bool waited = false;    ///< its writer was waited for once; from then on it is only looked at
    bool leftover = false;  ///< of a daemon that was killed: base and accounted are still to be found out
    /// Since then it is counted, nobody has it open, and it has a name that the next daemon removes.
    std::optional<async::Moment> away_since = {};
};

struct TaskMemory {
    explicit TaskMemory(Projections known) : projections(std::move(known)) {}

    std::optional<std::string> body;
    CopyMemory own;
    CopyMemory mirror;
    std::vector<Displaced> displaced;
    std::set<Path> swept;  ///< folders that were searched for leftovers
    Projections projections;
    std::deque<Task> recent;  ///< what was projected lately, newest last
    int held_back = 0;        ///< calls that have left a half-written copy alone
};

}  // namespace orange::store
