#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

/// Finds the branch that a task is merged into.
namespace orange {

/// The branch that a task is merged into, and that its own branch is compared with.
struct MergeTarget {
    std::string branch;
    TaskId parent = {};  ///< the task that has the branch; empty: it is the default branch

    bool is_parents() const { return !parent.empty(); }
    /// "fix/total, the branch of task 4f2a"
    std::string text() const { return branch + (is_parents() ? ", the branch of task " + parent.value : ""); }
};

/// Returns the state in which the task waits for its sub-tasks without a workspace; empty if its workflow has none.
std::string waiting_state(const World& world, const TaskRecord& record);

/// Returns the branch of the task's parent if the record says so (TaskRecord::into_parent) and the parent has not
/// ended; otherwise the default branch. No I/O.
MergeTarget merge_target(const World& world, const TaskRecord& record, const Project& project);

/// Returns the parent's branch that the task is merged into, or was; empty if that is the default branch. No I/O.
std::string parents_branch(const World& world, const TaskRecord& record);

/// True if the task's parent has ended or cannot be found, so that the task is merged into the default branch instead.
bool has_lost_its_target(const World& world, const TaskRecord& record);

/// True if the record's merge goes into a parent's branch. Such a merge is never pushed, and the local branch counts.
bool stays_local(const TaskRecord& record, const Project& project);

/// Succeeds for the default branch. conflict while nothing may be merged into the parent's branch: the parent has a
/// workspace, whose files would change during its work, or is being merged itself. No I/O.
Result<void> check_parent_rests(const World& world, const MergeTarget& target);

/// Returns the merge_target() for comparisons. A parent's branch that does not exist yet will begin at the default
/// branch, so the result is the default branch until then.
Awaitable<Result<MergeTarget>> existing_target(World& world, const TaskRecord& record, const Project& project);

/// Returns the ref of existing_target(). The task's branch is compared with it unless the task has a base of its own.
Awaitable<Result<std::string>> target_ref(World& world, const TaskRecord& record, const Project& project);

}  // namespace orange
