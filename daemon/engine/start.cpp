#include "daemon/engine/start.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/engine/edges.hpp"
#include "daemon/engine/needs.hpp"

namespace orange::engine {
namespace {

/// Returns the transition that starts the state's agent on the way in; nullptr if there is none.
const Transition* entrance(const Definition& definition, const State& state) {
    for (const auto& transition : definition.transitions) {
        if (transition.to != state.name) continue;
        for (const auto& hook : transition.hooks) {
            const auto role = spawned_role(hook);
            if (role && (!state.agent || role == state.agent)) return &transition;
        }
    }
    return nullptr;
}

/// Returns a transition that the daemon may take without a confirmation and without an artifact.
const Transition* open_edge(const Definition& definition, std::string_view from, std::string_view to) {
    for (const auto* edge : definition.between(from, to)) {
        if (may_ask(*edge, Role::system) && !edge->force && !edge->gate) return edge;
    }
    return nullptr;
}

bool is_start(const Definition& definition, const State& state) {
    if (state.terminal || state.meaning == Meaning::initial || state.meaning == Meaning::stuck) return false;
    if (state.children) return false;  // a new task has none
    const bool has_agent = state.agent || entrance(definition, state);
    if (!has_agent) return open_edge(definition, state.name, definition.name_for(Meaning::done)) != nullptr;
    return state.meaning == Meaning::clarification || role_of_state(definition, state) == Role::reviewer;
}

/// Returns the transition by which a task waits for its attempts; nullptr if the workflow has none.
const Transition* edge_to_attempts(const Definition& definition) {
    for (const auto& edge : definition.transitions) {
        const auto* to = definition.state(edge.to);
        const bool fits = edge.gate && edge.gate->attempts && !edge.force && may_ask(edge, Role::system);
        if (!fits || to == nullptr || !to->children) continue;
        if (std::ranges::find(edge.from, definition.initial().name) != edge.from.end()) return &edge;
    }
    return nullptr;
}

}  // namespace

Error without_attempts(const Definition& definition) {
    return {ErrorCode::invalid_argument,
            "in workflow " + definition.name + " no task can be tried by several agents: it has no transition from " +
                definition.initial().name +
                " with the gate {attempts: true} to a state that waits for sub-tasks. Omit --attempts, or use another "
                "workflow:\n  " +
                OrangeCommand{"workflow list"}.text()};
}

Result<std::string> state_of_attempts(const Definition& definition) {
    const auto* edge = edge_to_attempts(definition);
    if (edge == nullptr) return without_attempts(definition);
    return edge->to;
}

std::vector<std::string> start_states(const Definition& definition) {
    std::vector<std::string> names;
    for (const auto& state : definition.states) {
        if (is_start(definition, state)) names.push_back(state.name);
    }
    return names;
}

Result<Decision> decide_start(const Definition& definition, const Task& task, const std::string& to) {
    const auto* state = definition.state(to);
    if (!state) {
        return Error(ErrorCode::invalid_argument, "workflow " + definition.name + " has no status \"" + printable(to) +
                                                      "\"; known: " + join(definition.state_names(), ", "));
    }
    if (!is_start(definition, *state)) {
        const auto possible = start_states(definition);
        return Error(ErrorCode::invalid_argument,
                     "a task of workflow " + definition.name + " cannot start with the status " + to +
                         (possible.empty() ? "; it starts with " + definition.initial().name
                                           : "; omit --status, or use one of " + join(possible, ", ")));
    }
    if (const auto* edge = open_edge(definition, task.status, to)) return decision_for(definition, task, *edge);
    Transition made;
    made.to = to;
    const auto* model = entrance(definition, *state);
    if (state->agent || model) made.hooks.push_back({"acquire_workspace", {}, {}});
    for (const auto& hook : model ? model->hooks : std::vector<Action>{}) {
        const bool counts = hook.name == "increment" || hook.name == "set_field";
        if (counts || spawned_role(hook)) made.hooks.push_back(hook);
    }
    return decision_for(definition, task, made);
}

Result<Decision> decide_start(const Definition& definition, const TaskRecord& record) {
    const auto to = record.start.value_or(definition.initial().name);
    if (record.attempts.empty()) return decide_start(definition, record.task, to);
    const auto* edge = edge_to_attempts(definition);
    if (edge != nullptr) return decision_for(definition, record.task, *edge);
    return without_attempts(definition);
}

std::string next_status(const Definition& definition, const Task& task, const std::optional<std::string>& start) {
    const auto* state = definition.state(task.status);
    if (state && state->children) return state->children->when_commits;
    if (!state || state->meaning != Meaning::initial) return task.status;
    return start ? *start : spawn_target(definition, task).value_or(task.status);
}

std::optional<Role> first_agent(const Definition& definition, const Task& task,
                                const std::optional<std::string>& start) {
    const auto to = start ? Result<std::string>(*start) : spawn_target(definition, task);
    const auto* state = to ? definition.state(*to) : nullptr;
    if (!state || state->agent) return state ? state->agent : std::nullopt;
    const auto* way = entrance(definition, *state);
    return way ? std::optional(role_of_state(definition, *state)) : std::nullopt;
}

std::optional<Role> agent_of(const Definition& definition, const State& state) {
    return is_for_agent(definition, state) ? std::optional(role_of_state(definition, state)) : std::nullopt;
}

bool is_at_work(const Definition& definition, const Task& task, Role role) {
    const auto* state = definition.state(task.status);
    if (!state || state->terminal) return false;
    return agent_of(definition, *state).value_or(Role::reviewer) == role;
}

bool waits_for_human(const Definition& definition, std::string_view status) {
    return definition.means(status, Meaning::clarification) || definition.means(status, Meaning::stuck);
}

bool needs_workspace(const Decision& decision) {
    return std::any_of(decision.actions.begin(), decision.actions.end(), [](const Action& action) {
        return action.name == "acquire_workspace" || action.name == k_ensure_agent || spawned_role(action);
    });
}

}  // namespace orange::engine
