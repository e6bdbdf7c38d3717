#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/next.hpp"
#include "daemon/runner/turns.hpp"

/// Steps of the reconciler for a task that was split into sub-tasks. `record` is that of the task's turn. Each step
/// may be repeated after a crash and then changes nothing a second time.
namespace orange {

struct Runner;

/// Writes into the record that sub-tasks are done. That stays, whatever becomes of the sub-tasks.
Awaitable<Result<void>> note_children(World& world, Turns& turns, TaskRecord& record, engine::step::NoteChildren ended);

/// Makes the notices about the sub-tasks say what is true now.
Awaitable<Result<void>> tell_of_children(World& world, Turns& turns, TaskRecord& record,
                                         engine::step::TellOfChildren tell);

/// Takes the task out of the queue, and clears the notice that it could not go on.
Awaitable<Result<void>> wait_for_children(Turns& turns, TaskRecord& record, engine::step::WaitForChildren wait);

/// Takes the transition that follows the end of all sub-tasks, or puts the task into the queue if it needs a workspace
/// for that. An error is tried again; what fails for good is told by a notice and waits for `orange task ack`.
Awaitable<Result<void>> go_on_after_children(Runner& runner, TaskRecord& record);

}  // namespace orange
