#pragma once

#include "daemon/runner/outcome.hpp"
#include "daemon/runner/transitions.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// `orange task update-branch`: merges the default branch, as origin has it, into the task's branch in its worktree.
/// conflict if the task has no worktree, if something is uncommitted there, or if files conflict: these are left in the
/// worktree to be resolved (`details["files"]`). Success if the branch is up to date already.
Awaitable<Result<Outcome>> update_branch(World& world, Transitions& transitions, TaskId id, Caller by);

}  // namespace orange
