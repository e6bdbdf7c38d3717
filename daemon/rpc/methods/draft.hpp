#pragma once

#include <string>
#include <vector>

#include "common/rpc/task_methods.hpp"
#include "daemon/rpc/api.hpp"

namespace orange::rpc {

/// A task that `task.create` is building, with what the checks found out.
struct Draft {
    TaskRecord record;
    Project project;
    bool new_project = false;
    workflow::Library::DefinitionPtr definition;
    std::vector<std::string> notes;
    bool work_is_there = false;    ///< the task starts in a state after the work, so its branch must exist
    bool needs_workspace = true;   ///< at once, or when its turn in the queue comes
    bool only_new_branch = false;  ///< an agent must not use an existing branch, which may be a person's
    bool is_at_origin = false;     ///< origin has the branch, so there may be a pull request of it
    std::string why_not_fetched;
};

/// Chooses the programs of the new task's worker and reviewer, with their models and permissions (docs/files.md), and
/// notes what the caller should know about them. The project's consents get those that the call gives. Error
/// needs_force or conflict if a program would ask for trust and the task is to start.
Result<void> choose_harnesses(Api& api, const TaskCreate& params, Draft& draft);

}  // namespace orange::rpc
