#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// Several agents at the same task (`--attempts`). Each tries it in a sub-task of its own, an *attempt*, which does not
/// know of the others. The task itself, their parent, has no agent and no branch. A human picks one of them; the others
/// are cancelled, and their work is kept as that of any cancelled task.
///
/// The list of attempts is written with the parent (TaskRecord::attempts), and the sub-tasks are made by a step of its
/// loop. The pick is one write, of the parent's record; each other attempt then ends by a step of its own loop, which
/// finds the pick there. A daemon that is killed leaves both kinds of steps to the next one.
///
/// An attempt begins where its parent would, and is merged where its parent would be.
namespace orange {

/// The detail `why` of the error of a merge that has to wait for a pick, as common/rpc/attempt_methods.hpp says.
inline constexpr const char* k_not_picked = "not_picked";

/// True if the files of that task could not be read.
bool is_unreadable(const World& world, const TaskId& id);

/// Returns the task whose sub-task this one is for a merge and for the beginning of its branch: its parent, or of an
/// attempt the parent's parent. Empty if there is none.
TaskId task_above(const World& world, const TaskRecord& record);

/// True if the task is an attempt whose human has to pick one first: its parent has not ended, and none is picked.
bool waits_for_pick(const World& world, const TaskRecord& record);
/// True if the task is an attempt, or a task below one, and another one was picked.
bool is_unpicked(const World& world, const TaskRecord& record);

/// Succeeds for a task that may be merged, or may have a pull request, as far as it is a matter of picks. conflict,
/// with `why` not_picked, for an attempt that is not picked, and for a task with attempts. conflict for an attempt of a
/// task that cannot be read.
Result<void> check_picked(const World& world, const TaskRecord& record);
/// Returns the task that a merge of `id` is about: the attempt that was picked, or the task itself. conflict, with
/// `why` not_picked, if the task has attempts and none is picked.
Result<TaskId> picked_instead(const World& world, const TaskId& id);

/// Returns conflict if a new task cannot have so many attempts: they are sub-tasks, and the settings limit those.
Result<void> check_attempts_allowed(const World& world, const Project& project, const TaskRecord& parent,
                                    std::size_t count);

/// Returns the attempt of `parent` that a caller names: by its name, its id or the beginning of its id, or its branch.
/// not_found if there is none, with the names.
Result<TaskId> attempt_named(const World& world, const TaskRecord& parent, const std::string& name);

/// Picks an attempt, in the turn of its parent. Nothing follows yet. Succeeds if it is picked already. conflict if
/// another one is picked or done, if one of both has been given up, or if the attempts are not made yet.
Awaitable<Result<void>> note_pick(Runner& runner, TaskId parent, TaskId attempt, Caller by);
/// Ends the attempts that were not picked, and the tasks below them. Their workspaces are for the next in the queue.
/// Returns notes about each and about its kept work. What cannot be ended now is ended by its own loop.
Awaitable<std::vector<std::string>> end_unpicked_of(Runner& runner, TaskId parent);

// Steps of the reconciler. `record` is that of the task's turn.

/// Creates the attempts that do not exist yet, and puts them into the queue. May be repeated after a crash.
Awaitable<Result<void>> make_attempts(Runner& runner, TaskRecord& record);
/// Cancels a task that belongs to an attempt that was not picked.
Awaitable<Result<void>> end_unpicked(Runner& runner, TaskRecord& record);

}  // namespace orange
