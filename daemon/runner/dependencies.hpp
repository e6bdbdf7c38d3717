#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/next.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/waiting.hpp"

/// Steps of the reconciler for a task that waits for others.
namespace orange {

/// Writes into the record which blockers are done, and tells the human of those that never will be. If nothing is open
/// any more, the queue may start the task. `record` is that of the task's turn. Repeated after a crash, it writes and
/// tells nothing twice: the history is written first and is recognized.
Awaitable<Result<void>> note_blockers(World& world, Turns& turns, Waiting& waiting, TaskRecord& record,
                                      engine::step::NoteBlockers ended);

}  // namespace orange
