#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "common/rpc/task_methods.hpp"
#include "daemon/runner/world.hpp"

/// `task.create` for a sub-task: what it takes over from its parent, and what an agent may choose.
namespace orange::rpc {

/// For a call of an agent: it becomes one for a sub-task of its own task, with the workflow, the permissions, the
/// agents and the effort of that where none are named. forbidden if the caller is not a worker, the project does not
/// let it, or the call has an option that only a human may choose. Any other call stays as it is.
Result<void> complete_for_agent(const World& world, TaskCreate& params, const Caller& by);

/// The parent by its id, and its project: a sub-task belongs where its parent does, wherever the caller is.
Result<void> take_parent(const World& world, TaskCreate& params);

/// Makes the new task one of its parent's (runner/children.hpp). One that an agent creates may wait for its siblings
/// only, and waits for a human's approval if the project says so.
Result<void> join_parent(const World& world, const TaskCreate& params, TaskRecord& record, const Caller& by);

/// ## Context of the new task: an agent's text says whose it is.
std::string context_of(const World& world, const TaskCreate& params, const Caller& by);

}  // namespace orange::rpc
