#pragma once

#include "daemon/runner/runner.hpp"

namespace orange {

/// `orange task update-branch`: merges the default branch (base_of(), refs.hpp) into the task's branch in its worktree.
/// conflict if the task has no worktree, if an agent works or something is uncommitted there, or if files conflict.
/// Files that conflict stay in the worktree to be resolved (`details["files"]`). Succeeds if the branch is already up
/// to date.
Awaitable<Result<Outcome>> update_branch(Runner& runner, TaskId id, Caller by);

/// Says what git has begun in the task's worktree and not finished, for example the merge that update_branch() left
/// there, and how to go on. Empty if there is nothing, or if it cannot be found out.
Awaitable<std::string> half_done(World& world, TaskRecord record);

}  // namespace orange
