#pragma once

#include <optional>
#include <string>

#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

/// A merge brings the task's branch, but the reviewer sees what the worktree has. An agent may have switched to another
/// branch, renamed its branch, or detached HEAD.
namespace orange {

struct OtherBranch {
    std::string text;     ///< what the worktree is on, a sentence
    std::string command;  ///< makes the task's branch the one with that work
};

/// Returns the branch that the worktree of a task is on, if it has commits that the task's branch does not have.
Awaitable<Result<std::optional<OtherBranch>>> other_branch_of(World& world, TaskRecord record);

/// Raises the notice other_branch, or clears it; the caller saves the record.
Awaitable<void> watch_branch(World& world, TaskRecord& record);

}  // namespace orange
