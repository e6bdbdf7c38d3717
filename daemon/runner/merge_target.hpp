#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

/// Into which branch a task is merged.
namespace orange {

/// The branch that a task is merged into, and that its own branch is compared with.
struct MergeTarget {
    std::string branch;
    TaskId parent = {};  ///< the task whose branch it is; empty: it is the default branch

    bool is_parents() const { return !parent.empty(); }
    /// "fix/total, the branch of task 4f2a"
    std::string text() const { return branch + (is_parents() ? ", the branch of task " + parent.value : ""); }
};

/// The state in which the task waits for its sub-tasks without a workspace; empty: its workflow has none.
std::string waiting_state(const World& world, const TaskRecord& record);

/// The branch of the task's parent if its record says so (TaskRecord::into_parent) and the parent has not ended; else
/// the default branch. No I/O.
MergeTarget merge_target(const World& world, const TaskRecord& record, const Project& project);

/// The parent's branch that the task is merged into, or was; empty: it is the default branch. No I/O.
std::string parents_branch(const World& world, const TaskRecord& record);

/// Its parent has ended or cannot be found, so the task is merged into the default branch, which nobody expected.
bool has_lost_its_target(const World& world, const TaskRecord& record);

/// The merge of the record goes into a parent's branch. That is never pushed, and the local branch is what counts.
bool stays_local(const TaskRecord& record, const Project& project);

/// Success for the default branch. conflict while nothing may be merged into the parent's branch: it has a workspace,
/// whose files would change under those who work there, or it is being merged itself. No I/O.
Result<void> check_parent_rests(const World& world, const MergeTarget& target);

/// merge_target() for those who compare: a parent's branch that does not exist yet will begin at the default branch, so
/// that one is taken.
Awaitable<Result<MergeTarget>> existing_target(World& world, const TaskRecord& record, const Project& project);

/// The ref of existing_target(), with which the task's branch is compared unless it has a base of its own.
Awaitable<Result<std::string>> target_ref(World& world, const TaskRecord& record, const Project& project);

}  // namespace orange
