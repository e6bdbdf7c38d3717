#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/engine/decide.hpp"

/// Tasks that are created in a later state (`orange task create --status`): for an existing branch that is to be
/// reviewed, for work that only waits to be merged, or for a request that has to be discussed first.
namespace orange::engine {

/// Returns the states in which a task may be created: `clarification`, those in which a reviewer works, and those
/// without an agent from which the task can be merged without force. In the definition's order.
std::vector<std::string> start_states(const Definition& definition);

/// Decides how a new task, which is in the initial state, gets into one of start_states(). If the workflow has an open
/// transition for it, that one is taken. Otherwise the state's agent is started as the workflow starts it there (with
/// the counters that this sets), in a workspace of its own; a state without an agent needs neither. invalid_argument,
/// with the possible states, for any other state.
Result<Decision> decide_start(const Definition& definition, const Task& task, const std::string& to);

/// Decides how a task starts that was created for a later state (TaskRecord::start), or for several agents.
Result<Decision> decide_start(const Definition& definition, const TaskRecord& record);

/// Returns the state in which a task waits for the agents that try it (TaskRecord::attempts), each in a sub-task: the
/// gate {attempts: true} is on the way there. invalid_argument if the workflow has none.
Result<std::string> state_of_attempts(const Definition& definition);
/// Returns that refusal.
Error without_attempts(const Definition& definition);

/// Returns the status in which the next agent of the task works: for a task that has not started, or waits for its
/// sub-tasks, the one to which its start or their end leads; else its own. `start`: as for first_agent().
std::string next_status(const Definition& definition, const Task& task, const std::optional<std::string>& start);

/// Returns the role of the agent that the start of a pending task brings: in the state `start`, or in the workflow's
/// first one. nullopt if the start brings none.
std::optional<Role> first_agent(const Definition& definition, const Task& task,
                                const std::optional<std::string>& start);

/// Returns the role of the agent that works in the state: the one that it names, or, in a workflow whose states name
/// none, the one that a transition into it starts. nullopt in a state that is not an agent's.
std::optional<Role> agent_of(const Definition& definition, const State& state);

/// True if the role's agent works in the task's state. A worker in a state without an agent only waits.
bool is_at_work(const Definition& definition, const Task& task, Role role);

/// True if a task with this status waits for its human, whatever its agent does: it has questions, or is stuck.
bool waits_for_human(const Definition& definition, std::string_view status);

/// True if the decision needs a workspace to be performed.
bool needs_workspace(const Decision& decision);

}  // namespace orange::engine
