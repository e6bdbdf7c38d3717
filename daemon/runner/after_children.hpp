#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/transitions.hpp"

/// The step of a task that waited for its sub-tasks, in its turn.
namespace orange {

/// What follows now (engine::decide_children), with what git says of the branch. An error: that could not be found out.
Awaitable<Result<engine::ChildrenOutcome>> decide_after_children(World& world, Turns& turns, const TaskRecord& record);

/// It needs a workspace for that step and has none: the queue takes it when there is one.
bool wants_workspace(const TaskRecord& record, const engine::ChildrenOutcome& outcome);

/// Takes the step, once. If none follows any more, the task leaves the queue.
Awaitable<Result<Outcome>> move_after_children(World& world, Turns& turns, Transitions& transitions, TaskRecord record);

}  // namespace orange
