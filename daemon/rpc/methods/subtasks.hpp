#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "common/rpc/task_methods.hpp"
#include "daemon/runner/world.hpp"

/// `task.create` for a sub-task: what it inherits from its parent, and what an agent may choose.
namespace orange::rpc {

/// Completes a call of an agent: the new task becomes a sub-task of the agent's task and inherits its workflow,
/// permissions, agents and effort where the call names none. forbidden if the caller is not a worker, if the project
/// does not allow sub-tasks, or if the call has an option that only a human may choose. Calls of others are not
/// changed.
Result<void> complete_for_agent(const World& world, TaskCreate& params, const Caller& by);

/// Resolves the parent, and sets its project: a sub-task belongs to its parent's project, wherever the caller is.
Result<void> take_parent(const World& world, TaskCreate& params);

/// Makes the new task a sub-task of its parent (runner/family/family.hpp). A sub-task that an agent creates may wait
/// for its siblings only, and waits for a human's approval if the project requires that.
Result<void> join_parent(const World& world, const TaskCreate& params, TaskRecord& record, const Caller& by);

/// Returns the section "## Context" of the new task. If an agent wrote it, the first sentence names that agent's task.
std::string context_of(const World& world, const TaskCreate& params, const Caller& by);

}  // namespace orange::rpc
