#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/runner/world.hpp"

/// The sub-tasks of a task. No I/O.
namespace orange {

/// Oldest first; those that were done and are deleted now come before them, those whose files cannot be read behind.
engine::Children children_of(const World& world, const TaskRecord& record);

/// Those that have not ended, and theirs, each before its own sub-tasks.
std::vector<TaskId> open_below(const World& world, const TaskId& id);

/// Makes a new task a sub-task of `parent`, in its project. An error if the parent has ended, has as many as it may
/// have, is as deep as it may be, or is what the new task waits for.
Result<void> adopt(const World& world, TaskRecord& record, const TaskRecord& parent);

}  // namespace orange
