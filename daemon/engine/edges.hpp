#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/engine/decide.hpp"
#include "daemon/engine/permissions.hpp"

/// The reading of one edge of the map, which decide() and explain() share. Private to this folder.
namespace orange::engine {

/// "task 4f2a…", as messages name it, or "the task" if it has no id yet.
std::string called(const Task& task);
/// "a, b or c", if `last` is " or ".
std::string listed(std::vector<std::string> parts, std::string_view last, std::string_view comma = ", ");
/// "worker, human or system"
std::string role_list(const std::vector<Role>& roles);

/// "## Handoff with a line DONE:, changed since the task entered this status", for lists of edges.
/// The project's checks are named if they are given.
std::string gate_text(const Gate& gate, const Argvs& project_checks = {});

/// Why the gate does not hold, as a sentence that says what to do; nothing where it does, or where only checks have to
/// run to find it out.
std::optional<std::string> problem_of(const Gate& gate, const Situation& situation);
/// The part of it that is not about the branch.
std::optional<std::string> written_problem(const Gate& gate, const Situation& situation);

/// The command with which a human asks for `to`.
OrangeCommand human_command(const Definition& definition, const Task& task, std::string_view to, bool force = false);
/// The command with which an agent asks for `to`; it is about the agent's own task.
OrangeCommand agent_command(const std::string& to);
/// The command of a human or of an agent.
OrangeCommand command_for(const Definition& definition, const Task& task, const std::string& to, Role by);

/// Whose process does the work of a state: its `agent`, else the one that the transitions into it start.
Role role_of_state(const Definition& definition, const State& state);

/// The effects of `transition` from the task's state: counters as values, actions, ensure_agent.
Decision decision_for(const Definition& definition, const Task& task, const Transition& transition);

/// "No state "reviewin" …", "From working a worker can set …": the rejection of an edge that is not in the map.
Refusal illegal(const Definition& definition, const Task& task, const Request& request);
/// The caller is none of those who may ask. `edges` is not empty, unless the caller is Role::unknown, who may ask for
/// nothing at all.
Refusal forbidden(const Definition& definition, const Task& task, const Request& request,
                  const std::vector<const Transition*>& edges);
/// A human has to confirm it.
Refusal needs_force(const Definition& definition, const Task& task, const Transition& edge);
/// No condition of the edges holds.
Refusal guard_failed(const Task& task, const std::vector<const Transition*>& edges);

}  // namespace orange::engine
