#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/turns.hpp"

namespace orange {

/// In the turn of a pending task that was created with the branch of a blocker as its --base, before it starts: its
/// branch is made where the blocker's branch is, or was when it was merged, and the default branch is merged into it
/// (merged, not rebased: others may have seen the commits). From then on it is compared with the default branch. If it
/// starts although the blocker is not done, the branch begins at the blocker's, and nothing is merged. The same of a
/// sub-task and its parent, whose branch it begins with; the default branch is merged if it has waited for others. For
/// a sub-task that is merged into its parent's branch that one stands for the default branch, unless it has waited for
/// a task that is merged elsewhere. Saves the record.
///
/// conflict, with `details["files"]`, if the two conflict: the branch is there, without the merge, for somebody to
/// make it. May be repeated after a crash.
Awaitable<Result<void>> put_on_base(World& world, Turns& turns, TaskRecord& record);

}  // namespace orange
