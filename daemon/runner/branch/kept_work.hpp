#pragma once

#include <string>
#include <vector>

#include "daemon/runner/world.hpp"

namespace orange {

/// The work of an ended task, and the branch that holds it now.
struct RestoredWork {
    std::string branch;
    std::string commit;
    std::vector<std::string> notes;
};

/// Returns sentences about the work that a cancelled task leaves, with the command that restores it; empty if there is
/// no work.
Awaitable<std::vector<std::string>> kept_work(World& world, TaskRecord record);

/// Creates a branch for a task's work: for its uncommitted work with the commits below it, otherwise for its branch,
/// otherwise for the merged commit. `branch` is the name; if it is empty, the task's own with "-restored". A repeated
/// call changes nothing. conflict if the name belongs to another commit, or if the task has not ended; not_found if
/// there is no work.
Awaitable<Result<RestoredWork>> restore_work(World& world, TaskRecord record, std::string branch);

}  // namespace orange
