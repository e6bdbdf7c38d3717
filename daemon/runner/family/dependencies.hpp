#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/next.hpp"
#include "daemon/runner/queue/waiting.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// Steps of the reconciler for a task that waits for other tasks.
namespace orange {

/// Notes in the record which blockers are done, and raises a notice about those that will never be done. If no blocker
/// is left, the queue may start the task. `record` is that of the task's turn. The call can be repeated after a crash:
/// history is written first, and an event that it already has is not written again.
Awaitable<Result<void>> note_blockers(World& world, Turns& turns, Waiting& waiting, TaskRecord& record,
                                      engine::step::NoteBlockers ended);

}  // namespace orange
