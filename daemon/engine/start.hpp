#pragma once

#include <optional>
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

/// The agent that the start of a pending task brings: in the state `start`, or in the workflow's first one. Nothing for
/// a start that brings none.
std::optional<Role> first_agent(const Definition& definition, const Task& task,
                                const std::optional<std::string>& start);

/// Whether the task's state is one that the role's agent works in. A worker in a state without an agent only waits.
bool is_at_work(const Definition& definition, const Task& task, Role role);

/// Whether the decision cannot be performed without a workspace.
bool needs_workspace(const Decision& decision);

}  // namespace orange::engine
