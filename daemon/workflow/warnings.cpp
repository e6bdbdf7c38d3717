#include <algorithm>

#include "daemon/engine/decide.hpp"
#include "daemon/engine/edges.hpp"
#include "daemon/engine/permissions.hpp"
#include "daemon/workflow/reader.hpp"

namespace orange::workflow {
namespace {

using engine::Definition;
using engine::Meaning;
using engine::State;

bool has_rule(const Definition& definition, const State& state, bool that_acts) {
    return std::ranges::any_of(definition.exit_rules, [&](const auto& rule) {
        return rule.status == state.name && (!that_acts || rule.action != engine::ExitAction::mark_dead);
    });
}

bool is_spawned_into(const Definition& definition, const State& state) {
    return std::ranges::any_of(definition.transitions, [&](const auto& transition) {
        return transition.to == state.name && std::ranges::any_of(transition.hooks, [](const Action& hook) {
                   return engine::spawned_role(hook).has_value();
               });
    });
}

/// Returns true if an agent may take the task on from this state, so that one is expected to work here.
bool is_left_by_agents(const Definition& definition, const State& state) {
    return std::ranges::any_of(definition.targets_from(state.name), [&](const std::string& to) {
        const auto* target = definition.state(to);
        if (target == nullptr || target->terminal) return false;
        return std::ranges::any_of(definition.between(state.name, to), [](const auto* edge) {
            return !edge->force && (may_ask(*edge, Role::worker) || may_ask(*edge, Role::reviewer));
        });
    });
}

/// Returns true if the definition does not say whether an agent or a human acts in this state.
bool is_undecided(const Definition& definition, const State& state) {
    const bool is_decided =
        state.agent || state.needs || state.children || state.terminal || state.meaning == Meaning::initial;
    if (is_decided) return false;
    if (is_spawned_into(definition, state) || has_rule(definition, state, true)) return true;
    if (state.meaning != Meaning::none || can_be_merged_from(definition, state.name)) return false;
    return !state.respawn_prompt.empty() || is_left_by_agents(definition, state);
}

Problem warning(const Place& place, std::string message) {
    return {place.line, place.column, std::move(message)};
}

constexpr const char* k_unruled =
    ", so Orange neither restarts an agent that ends there nor moves its task on; the task asks for your help";

/// Returns true if an agent may end the task as done, without a review by anybody.
bool ends_by_agents(const engine::Transition& transition, const Definition& definition) {
    return !transition.force && definition.means(transition.to, Meaning::done) &&
           (may_ask(transition, Role::worker) || may_ask(transition, Role::reviewer));
}

}  // namespace

std::vector<Problem> warnings_of(const Source& source) {
    const auto& definition = source.definition;
    std::vector<Problem> warnings;
    const bool has_rules = !definition.exit_rules.empty();
    if (!has_rules &&
        std::ranges::any_of(definition.states, [](const auto& state) { return state.agent.has_value(); })) {
        warnings.push_back(
            warning(source.states.front().at, "the workflow has no rules in exit_monitoring" + std::string(k_unruled)));
    }
    for (std::size_t i = 0; i < definition.states.size(); ++i) {
        const auto& state = definition.states[i];
        const auto& place = source.states[i].at;
        if (is_undecided(definition, state)) {
            warnings.push_back(
                warning(place, "the state " + state.name +
                                   " does not say whether an agent works there. If one does, add agent: " +
                                   std::string(name_of(role_of_state(definition, state))) +
                                   " and a respawn_prompt; if a human decides there, add needs: review"));
        }
        if (has_rules && state.agent && !has_rule(definition, state, false)) {
            warnings.push_back(
                warning(place, "no rule of exit_monitoring is about the state " + state.name + k_unruled));
        }
    }
    for (std::size_t i = 0; i < definition.transitions.size(); ++i) {
        if (!ends_by_agents(definition.transitions[i], definition)) continue;
        warnings.push_back(warning(source.transitions[i].to,
                                   "an agent may set " + definition.transitions[i].to +
                                       " itself, and nothing is merged by that. If a merge is to come first, add "
                                       "by: [system]"));
    }
    return warnings;
}

}  // namespace orange::workflow
