#pragma once

#include <optional>
#include <string>

#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

/// The branch that a worktree is on instead of its task's branch. A merge brings the task's branch, but the reviewer
/// sees the worktree. An agent may have switched to another branch, renamed its branch, or detached HEAD.
namespace orange {

struct OtherBranch {
    std::string text;     ///< a sentence about what the worktree is on
    std::string command;  ///< makes the task's branch have that work
};

/// Returns the branch that the worktree of a task is on, if it has commits that the task's branch does not have.
Awaitable<Result<std::optional<OtherBranch>>> other_branch_of(World& world, TaskRecord record);

/// Raises the notice other_branch, or clears it; the caller saves the record.
Awaitable<void> watch_branch(World& world, TaskRecord& record);

}  // namespace orange
