#pragma once

#include <string>
#include <vector>

#include "common/base/names.hpp"
#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/blocking.hpp"
#include "daemon/runner/world.hpp"

/// The tasks that a task waits for. No I/O.
namespace orange {

using engine::BlockerState;

/// Returns what has become of a task that another one waits for.
BlockerState blocker_state(const World& world, const TaskId& id);
/// Returns the blockers that the task still waits for, with the state of each.
std::vector<engine::Blocker> blockers_of(const World& world, const TaskRecord& record);

/// Puts the named tasks behind those that `record` waits for already; names are those of TaskStore::resolve(). An error
/// if one is the task itself, is gone or waits for the task, or if the task has begun.
Result<void> add_blockers(const World& world, TaskRecord& record, const std::vector<std::string>& names);
/// Takes them out, by the same names. One that is deleted has only its id.
Result<void> drop_blockers(const World& world, TaskRecord& record, const std::vector<std::string>& names);
/// conflict, with the cycle, if the task waits for itself.
Result<void> check_cycle(const World& world, const TaskRecord& record);

/// Those that it waits for, as people type them: "4f2a,7b1c".
std::string waits_text(const World& world, const TaskRecord& record);
/// The same of those that are gone; empty: none is.
std::string gone_text(const World& world, const TaskRecord& record);
/// What it waits for, and how to start it without.
std::string waits_sentence(const World& world, const TaskRecord& record);

}  // namespace orange
