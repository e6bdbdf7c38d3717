#pragma once

#include <string>
#include <vector>

#include "common/base/names.hpp"
#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/blocking.hpp"
#include "daemon/runner/world.hpp"

/// A task may wait for others, its blockers: the queue starts it when all of them are done. These functions read and
/// change the list of blockers in a record. They save nothing.
namespace orange {

using engine::BlockerState;

/// Returns the state of a task that another one waits for.
BlockerState blocker_state(const World& world, const TaskId& id);
/// Returns the blockers that the task still waits for, with the state of each.
std::vector<engine::Blocker> blockers_of(const World& world, const TaskRecord& record);

/// Appends the named tasks to the blockers of `record`. TaskStore::resolve() defines the names. conflict if a name is
/// the task itself, a task that has ended without success, or a task that waits for this one, or if the task has
/// started. invalid_argument above 100 blockers. On failure the record may be half changed; the caller drops it.
Result<void> add_blockers(const World& world, TaskRecord& record, const std::vector<std::string>& names);
/// Removes the named tasks from the blockers. A deleted task has only its id. invalid_argument if the task does not
/// wait for one of them.
Result<void> drop_blockers(const World& world, TaskRecord& record, const std::vector<std::string>& names);
/// Returns conflict, with the cycle in `details`, if the task waits for itself.
Result<void> check_cycle(const World& world, const TaskRecord& record);

/// Returns the blockers that the task still waits for, as people type them: "4f2a,7b1c".
std::string waits_text(const World& world, const TaskRecord& record);
/// Returns the blockers that will never be done, in the same form; empty if there are none.
std::string gone_text(const World& world, const TaskRecord& record);
/// Returns a sentence with the blockers and the command that starts the task without them.
std::string waits_sentence(const World& world, const TaskRecord& record);

}  // namespace orange
