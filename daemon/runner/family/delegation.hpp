#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/next.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// Steps of the reconciler for a task that was split into sub-tasks. `record` is that of the task's turn. A step can be
/// repeated after a crash and then changes nothing a second time.
namespace orange {

struct Runner;

/// Notes in the record that sub-tasks are done. The note stays even if a sub-task is deleted later.
Awaitable<Result<void>> note_children(World& world, Turns& turns, TaskRecord& record, engine::step::NoteChildren ended);

/// Updates the notices about the sub-tasks.
Awaitable<Result<void>> tell_of_children(World& world, Turns& turns, TaskRecord& record,
                                         engine::step::TellOfChildren tell);

/// Removes the task from the queue if it has to wait again, and clears the notice that it could not continue.
Awaitable<Result<void>> wait_for_children(Turns& turns, TaskRecord& record, engine::step::WaitForChildren wait);

/// Performs the transition that follows the end of all sub-tasks, or puts the task into the queue if the transition
/// needs a workspace. An Error is tried again. A permanent failure raises a notice that waits for `orange task ack`.
Awaitable<Result<void>> go_on_after_children(Runner& runner, TaskRecord& record);

}  // namespace orange
