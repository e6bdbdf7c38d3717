#pragma once

#include <string>
#include <vector>

#include "daemon/engine/decide.hpp"

/// A task that is created for a state further on (`orange task create --status`): a branch that is there already and
/// is to be reviewed, work that only waits to be merged, a request that has to be talked over first.
namespace orange::engine {

/// The states that a task may be created for: `clarification`, those that a reviewer works in, and those without an
/// agent from which the task can be merged without force. In the definition's order.
std::vector<std::string> start_states(const Definition& definition);

/// What brings a new task, which is in the initial state, into one of start_states(). Where the workflow has an open
/// transition for it, that one. Else the state's agent is started as the workflow starts it there (with the counters
/// that this sets), in a workspace of its own; a state without an agent needs neither. invalid_argument, with the
/// states that would do, for any other.
Result<Decision> decide_start(const Definition& definition, const Task& task, const std::string& to);

/// Whether the decision cannot be performed without a workspace.
bool needs_workspace(const Decision& decision);

}  // namespace orange::engine
