#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/runner/changes.hpp"

namespace orange {

/// What the commits of tasks' branches change, for lists of tasks. It is remembered by the two commits that were
/// compared, so git counts again only if a branch, or the one that it is compared with, has moved. What is not
/// committed is not in it: to see that, git has to read the whole worktree (changes_of()).
class Committed {
  public:
    explicit Committed(World& world) : world_(world) {}

    /// For tasks of one project: one git process, and three for each branch that has moved. At most k_most_at_once
    /// branches are counted in a call; the next call counts more.
    Awaitable<Result<void>> refresh(std::string project, std::vector<TaskId> ids);
    /// As of the last refresh; null if nothing is known.
    const Changes* of(const TaskId& id) const;

    static constexpr int k_most_at_once = 16;

  private:
    struct Counted {
        std::string target;  ///< the commit that it was compared with
        std::string tip;
        Changes changes;
    };

    World& world_;
    std::map<TaskId, Counted> counted_;
};

}  // namespace orange
