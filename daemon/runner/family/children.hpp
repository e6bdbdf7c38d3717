#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/transitions/transitions.hpp"

/// The sub-tasks of a task, and the transition of their parent when they have ended.
namespace orange {

/// Returns the sub-tasks, oldest first. Those that were done and are deleted now come before the others, those with
/// unreadable files after them.
engine::Children children_of(const World& world, const TaskRecord& record);

/// Returns all tasks below this one that have not ended, each before its own sub-tasks.
std::vector<TaskId> open_below(const World& world, const TaskId& id);

/// Makes a new task a sub-task of `parent`, in its project. conflict if the parent has ended, has as many sub-tasks or
/// is as deep as the settings allow, or is a task that the new one waits for.
Result<void> adopt(const World& world, TaskRecord& record, const TaskRecord& parent);

/// Decides the transition of a task that waited for its sub-tasks (engine::decide_children). The decision may depend on
/// the commits of the branch, so git is asked in the task's turn; fails if git does.
Awaitable<Result<engine::ChildrenOutcome>> decide_after_children(World& world, Turns& turns, const TaskRecord& record);

/// True if the task needs a workspace for that transition and has none. The queue then performs it when one is free.
bool wants_workspace(const TaskRecord& record, const engine::ChildrenOutcome& outcome);

/// Performs that transition, once. If no transition is due any more, removes the task from the queue.
Awaitable<Result<Outcome>> move_after_children(World& world, Turns& turns, Transitions& transitions, TaskRecord record);

}  // namespace orange
