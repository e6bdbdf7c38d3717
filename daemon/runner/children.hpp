#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/transitions.hpp"

/// The sub-tasks of a task, and the step of their parent when they have ended.
namespace orange {

/// Oldest first; those that were done and are deleted now come before them, those whose files cannot be read behind.
engine::Children children_of(const World& world, const TaskRecord& record);

/// Those that have not ended, and theirs, each before its own sub-tasks.
std::vector<TaskId> open_below(const World& world, const TaskId& id);

/// Makes a new task a sub-task of `parent`, in its project. An error if the parent has ended, has as many as it may
/// have, is as deep as it may be, or is what the new task waits for.
Result<void> adopt(const World& world, TaskRecord& record, const TaskRecord& parent);

/// Decides the step of a task that waited for its sub-tasks (engine::decide_children), with what git says of the
/// branch, in the task's turn. An error: git could not be asked.
Awaitable<Result<engine::ChildrenOutcome>> decide_after_children(World& world, Turns& turns, const TaskRecord& record);

/// True if the task needs a workspace for that step and has none: the queue takes it when one is free.
bool wants_workspace(const TaskRecord& record, const engine::ChildrenOutcome& outcome);

/// Takes that step, once. If none follows any more, the task leaves the queue.
Awaitable<Result<Outcome>> move_after_children(World& world, Turns& turns, Transitions& transitions, TaskRecord record);

}  // namespace orange
