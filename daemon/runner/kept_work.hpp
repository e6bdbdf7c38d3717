#pragma once

#include <string>
#include <vector>

#include "daemon/runner/world.hpp"

namespace orange {

/// Work of a task that has ended, as the branch that holds it now.
struct RestoredWork {
    std::string branch;
    std::string commit;
    std::vector<std::string> notes;  ///< how to look at it, and how to go on with it
};

/// What a cancelled task leaves, in sentences, with the command that brings it back; none where there is no work.
Awaitable<std::vector<std::string>> kept_work(World& world, TaskRecord record);

/// Makes a branch of a task's work: of its uncommitted work with the commits below it, else of its branch, else of what
/// was merged. `branch`: its name; empty: the task's own with "-restored". The same again changes nothing. conflict if
/// the name is another commit's, or the task has not ended; not_found if there is no work.
Awaitable<Result<RestoredWork>> restore_work(World& world, TaskRecord record, std::string branch);

}  // namespace orange
