#include <algorithm>
#include <map>
#include <set>

#include "daemon/workflow/condition.hpp"
#include "daemon/workflow/reader.hpp"

namespace orange::workflow {
namespace {

using engine::Definition;
using engine::Transition;

/// Reports two transitions between the same states that can be open at the same time; once for each pair of entries.
void check_ambiguity(Reader& reader, const Source& source) {
    const auto& definition = source.definition;
    const auto index_of = [&](const Transition* transition) {
        return static_cast<std::size_t>(transition - definition.transitions.data());
    };
    std::set<std::pair<std::size_t, std::size_t>> compared;
    for (const auto& from : definition.states) {
        for (const auto& to : definition.targets_from(from.name)) {
            const auto edges = definition.between(from.name, to);
            for (std::size_t b = 1; b < edges.size(); ++b) {
                for (std::size_t a = 0; a < b; ++a) {
                    if (!compared.emplace(index_of(edges[a]), index_of(edges[b])).second) continue;
                    const auto both = both_hold(edges[a]->when, edges[b]->when);
                    if (!both) continue;
                    const auto& later = source.transitions[index_of(edges[b])];
                    const auto line = source.transitions[index_of(edges[a])].at.line;
                    reader.problem(later.when.value_or(later.at),
                                   "ambiguous: " + from.name + " → " + to + " is in line " + std::to_string(line) +
                                       " too, and both hold" + (both->empty() ? " always" : " for " + *both) +
                                       "; give them \"when\" clauses that exclude each other");
                }
            }
        }
    }
}

using Ways = std::map<std::string, std::vector<std::string>>;

Ways ways_of(const Definition& definition) {
    Ways ways;
    for (const auto& state : definition.states) ways[state.name] = definition.targets_from(state.name);
    return ways;
}

std::set<std::string> reachable_from(const Ways& ways, const std::string& start) {
    std::set<std::string> seen{start};
    std::vector<std::string> queue{start};
    while (!queue.empty()) {
        const std::string state = std::move(queue.back());
        queue.pop_back();
        for (const auto& to : ways.at(state)) {
            if (seen.insert(to).second) queue.push_back(to);
        }
    }
    return seen;
}

void check_ways(Reader& reader, const Source& source) {
    const auto& definition = source.definition;
    const auto& initial = definition.initial();
    const bool any_terminal = std::any_of(definition.states.begin(), definition.states.end(),
                                          [](const auto& state) { return state.terminal; });
    if (!any_terminal) {
        reader.problem(source.states.front().at,
                       "no state is terminal, so no task could ever end; mark one with terminal: true");
        return;
    }
    const auto ways = ways_of(definition);
    const auto reached = reachable_from(ways, initial.name);
    for (std::size_t i = 0; i < definition.states.size(); ++i) {
        const auto& state = definition.states[i];
        if (&state == &initial && state.terminal) {
            reader.problem(source.states[i].at, "tasks begin in " + state.name + ", so it cannot be terminal");
            continue;
        }
        if (!reached.contains(state.name)) {
            reader.problem(
                source.states[i].at,
                "the state " + state.name + " is unreachable: no transitions lead from " + initial.name + " to it");
        }
        if (state.terminal) continue;
        const auto onward = reachable_from(ways, state.name);
        const bool ends = std::any_of(onward.begin(), onward.end(),
                                      [&](const std::string& name) { return definition.state(name)->terminal; });
        if (!ends) {
            reader.problem(source.states[i].at,
                           "the state " + state.name + " is a dead end: no terminal state can be reached from it");
        }
    }
}

void check_roles(Reader& reader, const Source& source) {
    const auto& definition = source.definition;
    for (std::size_t i = 0; i < definition.states.size(); ++i) {
        const auto& agent = definition.states[i].agent;
        if (!agent) continue;
        const bool spawned = std::any_of(
            definition.transitions.begin(), definition.transitions.end(), [&](const Transition& transition) {
                return std::any_of(transition.hooks.begin(), transition.hooks.end(),
                                   [&](const Action& hook) { return engine::spawned_role(hook) == agent; });
            });
        if (spawned) continue;
        const bool worker = *agent == Role::worker;
        reader.problem(*source.states[i].agent,
                       "nothing spawns a " + name_text(*agent) + ": no transition has " +
                           (worker ? "spawn_agent" : "spawn_reviewer, nor spawn_agent with harness: review") +
                           " among its hooks");
    }
}

/// An agent that is started again has the harness of its state, whichever way has led there.
void check_harnesses(Reader& reader, const Source& source) {
    const auto& transitions = source.definition.transitions;
    std::map<std::pair<std::string, Role>, std::size_t> first;
    for (std::size_t i = 0; i < transitions.size(); ++i) {
        const auto& to = transitions[i].to;
        for (const auto& hook : transitions[i].hooks) {
            const auto role = engine::spawned_role(hook);
            if (!role) continue;
            const auto line = source.transitions[first.emplace(std::pair(to, *role), i).first->second].at.line;
            const auto word = engine::harness_word(hook), other = engine::harness_word(source.definition, to, *role);
            if (word == other) continue;
            reader.problem(source.transitions[i].at,
                           "the " + name_text(*role) + " of " + to + " is started with harness: " + word +
                               " here, and with harness: " + other + " in line " + std::to_string(line) +
                               "; Orange would not know which to start again. Give both the same, or give the second "
                               "one a state of its own");
        }
    }
}

}  // namespace

void check_graph(Reader& reader, const Source& source) {
    check_ambiguity(reader, source);
    check_ways(reader, source);
    check_roles(reader, source);
    check_harnesses(reader, source);
}

}  // namespace orange::workflow
