#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/engine/decide.hpp"
#include "daemon/engine/permissions.hpp"

/// Functions about one transition (an edge of the workflow), which decide_request() and explain() share. Private to
/// this folder.
namespace orange::engine {

/// Returns "task 4f2a…", as messages name it, or "the task" if it has no id yet.
std::string called(const Task& task);
/// Returns "a, b or c", if `last` is " or ".
std::string listed(std::vector<std::string> parts, std::string_view last, std::string_view comma = ", ");
/// Returns a text such as "worker, human or system".
std::string role_list(const std::vector<Role>& roles);

/// Returns a text such as "## Handoff with a line DONE:, changed since the task entered this status", for lists of
/// edges. Names the project's checks if they are given.
std::string gate_text(const Gate& gate, const Argvs& project_checks = {});

/// Returns why the gate does not hold, as a sentence that says what to do; nullopt if it holds, or if only its checks
/// have to run.
std::optional<std::string> problem_of(const Gate& gate, const TransitionFacts& given);
/// Returns the part of that problem that is not about the branch.
std::optional<std::string> written_problem(const Gate& gate, const TransitionFacts& given);

/// Returns why a task with attempts cannot have that status, as a sentence: only its attempts are worked at.
std::optional<std::string> attempts_problem(const Definition& definition, const TransitionFacts& given,
                                            std::string_view to);

/// Returns the target of an exit rule that the task's numbers choose; null if there is none.
const Target* target_of_rule(const ExitRule& rule, const Task& task);

/// Returns the command with which a human asks for `to`.
OrangeCommand human_command(const Definition& definition, const Task& task, std::string_view to, bool force = false);
/// Returns the command with which an agent asks for `to` for its own task.
OrangeCommand agent_command(const std::string& to);
/// Returns the command of a human or of an agent.
OrangeCommand command_for(const Definition& definition, const Task& task, const std::string& to, Role by);

/// Returns the role that works in a state: its `agent`, otherwise the one that the transitions into the state start.
Role role_of_state(const Definition& definition, const State& state);

/// Returns the effects of `transition` from the task's state: counters as values, actions, ensure_agent.
Decision decision_for(const Definition& definition, const Task& task, const Transition& transition);

/// Returns the refusal of a transition that the workflow does not have: "No state "reviewin" …", "From working a worker
/// can set …".
Refusal illegal(const Definition& definition, const Task& task, const Request& request);
/// Returns the refusal for a caller that may not take the transition. `edges` is not empty, unless the caller is
/// Role::unknown, which may take none.
Refusal forbidden(const Definition& definition, const Task& task, const Request& request,
                  const std::vector<const Transition*>& edges);
/// Returns the refusal of a transition that a human has to confirm.
Refusal needs_force(const Definition& definition, const Task& task, const Transition& edge);
/// Returns the refusal if no condition of the edges holds.
Refusal guard_failed(const Task& task, const std::vector<const Transition*>& edges);

}  // namespace orange::engine
