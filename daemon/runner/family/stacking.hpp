#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Makes the branch of a pending task that was created with the branch of a blocker as its --base. Called in the task's
/// turn, before the task starts. Saves the record.
///
/// - The branch begins where the blocker's branch is, or was when it was merged. The default branch is merged into it
///   (merged, not rebased: other people may have seen the commits). From then on it is compared with the default
///   branch.
/// - If the task starts although the blocker is not done, the branch begins at the blocker's, and nothing is merged.
/// - The branch of a sub-task begins at its parent's in the same way. The default branch is merged if the sub-task has
///   waited for other tasks.
/// - For a sub-task that is merged into its parent's branch, that branch takes the place of the default branch, unless
///   the sub-task has waited for a task that is merged elsewhere.
///
/// conflict, with `details["files"]`, if the merge conflicts: the branch then exists without the merge, and a person
/// has to make it. The call may be repeated after a crash.
Awaitable<Result<void>> put_on_base(World& world, Turns& turns, TaskRecord& record);

}  // namespace orange
