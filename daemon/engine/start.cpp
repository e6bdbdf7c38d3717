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

}  // namespace

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
