#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/runner/branch/branch.hpp"

namespace orange {

/// Counts what the commits of tasks' branches change, for lists of tasks. Git counts after a branch has moved and never
/// while a list is made, so a list costs no process. A count is remembered together with the two commits that git
/// compared. Uncommitted changes are not counted: for them git reads the whole worktree (changes_of()).
class Committed {
  public:
    struct Counted {
        std::string target;  ///< the commit that the branch was compared with
        std::string tip;
        Changes changes;
        Timestamp at;      ///< when git last confirmed that both commits are the newest
        std::string into;  ///< the commit of the branch that the task is merged into
    };

    explicit Committed(World& world) : world_(world) {}

    /// Says that a branch of this project may have moved. The branches of the project's open tasks are counted
    /// 300 ms after the last call, at the latest 3 s after the first. One git runs at a time. A count that fails is
    /// made again after the next call. Subscribers get an event `changes.counted` for each count that differs.
    void moved(const std::string& project);
    /// Registers the function that is called with a project after the branches of its open tasks were counted.
    void on_counted(std::function<void(const std::string&)> observer) { observer_ = std::move(observer); }
    /// Returns true from a call of moved() until the branches are counted.
    bool is_counting() const { return counting_; }
    /// Counts these tasks of one project at once: one git process, and three for each branch that has moved.
    Awaitable<Result<void>> refresh(std::string project, std::vector<TaskId> ids);
    /// Returns the last count; for an ended task the one before its end. Null for a task whose branch was not counted
    /// yet, or no longer exists although the task has not ended.
    const Counted* of(const TaskId& id) const;
    /// Returns the changes of the last count, for changes_of(); empty if there is none.
    Changes known(const TaskId& id) const;

  private:
    Awaitable<void> count();
    Awaitable<bool> is_quiet();
    void store(const TaskId& id, Counted counted);

    World& world_;
    std::function<void(const std::string&)> observer_;
    std::map<TaskId, Counted> counted_;
    std::set<std::string> moved_;  ///< projects
    std::size_t calls_ = 0;
    bool counting_ = false;
};

}  // namespace orange
