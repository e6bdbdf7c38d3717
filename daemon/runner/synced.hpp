#pragma once

#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"
#include "daemon/store/task_files.hpp"

namespace orange {

/// Takes over what bringing a task's two copies of TASK.md in step has found: events into the history; body hash,
/// foreign frontmatter fields and attention into the record, which is saved where any of them changed.
void apply_synced(World& world, TaskRecord& record, const store::Synced& synced);

}  // namespace orange
