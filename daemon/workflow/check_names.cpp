#include <algorithm>
#include <set>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "common/model/task.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/permissions.hpp"
#include "daemon/workflow/condition.hpp"
#include "daemon/workflow/reader.hpp"

namespace orange::workflow {
namespace {

using engine::ExitAction;

/// Returns the state of that name; nullptr, with a problem, if there is none.
const engine::State* known_state(Reader& reader, const engine::Definition& definition, const std::string& name,
                                 const Place& place) {
    const auto* state = definition.state(name);
    if (state == nullptr) {
        const auto known = reader.is_full() ? std::vector<std::string>() : definition.state_names();
        reader.problem(place, "there is no state \"" + printable(name) + "\"" + suggestion(name, known));
    }
    return state;
}

void check_states(Reader& reader, const Source& source) {
    for (std::size_t i = 0; i < source.states.size(); ++i) {
        const auto& state = source.definition.states[i];
        const auto& places = source.states[i];
        if (state.terminal && places.agent) {
            reader.problem(*places.agent, "the terminal state " + state.name + " cannot have an agent");
        }
        if (state.terminal && places.respawn_prompt) {
            reader.problem(*places.respawn_prompt,
                           "the terminal state " + state.name + " cannot have a respawn_prompt");
        }
        if (!state.terminal && places.agent && !places.respawn_prompt) {
            reader.problem(*places.agent, "the state " + state.name +
                                              " has an agent and needs a respawn_prompt to start it again with");
        }
    }
}

/// Checks a transition that Orange takes automatically when the sub-tasks are done: it must exist and be free of
/// conditions, otherwise the task would stay in the state. `also_by`: the role that must be able to take it if a
/// sub-task is cancelled.
void check_way_on(Reader& reader, const Source& source, const engine::State& state, const std::string& to,
                  const Place& place, std::optional<Role> also_by) {
    const auto& definition = source.definition;
    if (known_state(reader, definition, to, place) == nullptr || !source.map_complete) return;
    const auto edges = definition.between(state.name, to);
    if (edges.empty()) {
        reader.problem(place, "dead end: there is no transition " + state.name + " → " + to +
                                  " to take when the sub-tasks are done");
    } else if (std::ranges::none_of(edges, [](const auto* edge) { return engine::is_free(*edge); })) {
        reader.problem(place, "dead end: the transition " + state.name + " → " + to +
                                  " is not open when the sub-tasks are done: add system to its by, and remove its "
                                  "gate, when and force");
    } else if (also_by && std::ranges::none_of(edges, [&](const auto* edge) { return may_ask(*edge, *also_by); })) {
        reader.problem(place, "dead end: if a sub-task is cancelled, somebody has to take the transition " +
                                  state.name + " → " + to + ": add " + name_text(*also_by) + " to its by");
    }
}

/// Reports transitions into the state without a gate {children: true} or {attempts: true}: a task without sub-tasks
/// would wait there forever.
void check_ways_in(Reader& reader, const Source& source, const engine::State& state) {
    const auto& definition = source.definition;
    for (std::size_t i = 0; i < source.transitions.size(); ++i) {
        const auto& transition = definition.transitions[i];
        const bool has_some = transition.gate && (transition.gate->children || transition.gate->attempts);
        if (transition.to != state.name || has_some) continue;
        reader.problem(source.transitions[i].to, "dead end: a task without sub-tasks would wait in " + state.name +
                                                     " for ever; give this transition the gate {children: true}");
    }
}

/// Checks `children:` of each state for dead ends.
void check_children(Reader& reader, const Source& source) {
    const auto& definition = source.definition;
    for (std::size_t i = 0; i < source.states.size(); ++i) {
        const auto& state = definition.states[i];
        const auto& places = source.states[i];
        if (!places.children) continue;
        if (state.terminal) {
            reader.problem(*places.children, "the terminal state " + state.name + " waits for no sub-tasks");
        } else if (&state == &definition.initial()) {
            reader.problem(*places.children, "tasks begin in " + state.name + ", and have no sub-tasks then");
        } else if (places.agent) {
            reader.problem(*places.children, "the state " + state.name +
                                                 " has an agent, and only a state without one waits for sub-tasks");
        }
        if (state.terminal || !state.children) continue;
        check_way_on(reader, source, state, state.children->when_commits, *places.when_commits, Role::human);
        check_way_on(reader, source, state, state.children->otherwise, *places.otherwise, std::nullopt);
        if (source.map_complete) check_ways_in(reader, source, state);
    }
}

void check_transitions(Reader& reader, const Source& source) {
    const auto& definition = source.definition;
    for (std::size_t i = 0; i < source.transitions.size(); ++i) {
        const auto& transition = definition.transitions[i];
        const auto& places = source.transitions[i];
        for (std::size_t k = 0; k < transition.from.size(); ++k) {
            const auto* state = known_state(reader, definition, transition.from[k], places.from[k]);
            if (state != nullptr && state->terminal) {
                reader.problem(places.from[k], "no transition leads out of the terminal state " + state->name);
            }
        }
        known_state(reader, definition, transition.to, places.to);
        if (transition.when && is_never(*transition.when)) {
            reader.problem(*places.when, "no number satisfies \"" + transition.when->text() + "\"");
        }
    }
}

/// Reports gates that can never hold: a task that has not begun has no branch, and a workflow without reviewers has no
/// review.
void check_facts(Reader& reader, const Source& source) {
    const auto& definition = source.definition;
    const auto& initial = definition.initial().name;
    const bool reviews =
        std::ranges::any_of(definition.states, [](const auto& state) { return state.agent == Role::reviewer; });
    for (std::size_t i = 0; i < source.transitions.size(); ++i) {
        const auto& transition = definition.transitions[i];
        const auto& places = source.transitions[i];
        if (!transition.gate || !transition.gate->facts.any() || !places.facts) continue;
        const auto& from = transition.from;
        if (transition.any_active || std::find(from.begin(), from.end(), initial) != from.end()) {
            reader.problem(*places.facts, "never holds: a task in " + initial + " has no branch yet");
        }
        if (places.reviewed_head && !reviews) {
            reader.problem(*places.reviewed_head, "never holds: no state of this workflow has agent: reviewer");
        }
    }
}

/// Reports each unknown {variable} of a prompt once, at its place in the file.
void check_prompt(Reader& reader, const std::string& key, const std::string& prompt, const Place& place,
                  const std::vector<std::string_view>& lines) {
    const auto& known = engine::prompt_variables();
    std::vector<std::string> reported;
    for (auto open = prompt.find('{'); open != std::string::npos && !reader.is_full();
         open = prompt.find('{', open + 1)) {
        const auto end =
            prompt.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", open + 1);
        if (end == std::string::npos || prompt[end] != '}' || end == open + 1) continue;
        const std::string name = prompt.substr(open + 1, end - open - 1);
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        if (std::find(reported.begin(), reported.end(), name) != reported.end()) continue;
        reported.push_back(name);
        Place at = place;
        for (auto line = static_cast<std::size_t>(place.line) - 1; line < lines.size(); ++line) {
            const auto column = lines[line].find("{" + name + "}");
            if (column == std::string_view::npos) continue;
            at = {static_cast<int>(line) + 1, static_cast<int>(columns_of(lines[line].substr(0, column))) + 1};
            break;
        }
        reader.problem(at, "unknown variable {" + name + "} in the prompt " + key + suggestion(name, known));
    }
}

void check_prompts(Reader& reader, const Source& source, std::string_view text) {
    std::vector<std::string> names;
    for (const auto& [name, prompt] : source.definition.prompts) names.push_back(name);
    for (const auto& use : source.prompt_uses) {
        if (!source.prompts_there || source.prompts.contains(use.name)) continue;
        reader.problem(use.place, "there is no prompt \"" + printable(use.name) + "\"" + suggestion(use.name, names));
    }
    const auto lines = split_lines(text);
    for (const auto& [name, prompt] : source.definition.prompts) {
        check_prompt(reader, name, prompt, source.prompts.at(name), lines);
    }
}

void check_fields(Reader& reader, const Source& source) {
    std::vector<std::string> known;
    for (const auto& field : frontmatter_fields()) {
        if (field.is_number) known.push_back(field.name);
    }
    std::set<std::string> seen(known.begin(), known.end());
    for (const auto& field : source.counted) {
        if (seen.insert(field).second) known.push_back(field);
    }
    for (const auto& use : source.compared) {
        if (seen.contains(use.name) || reader.is_full()) continue;
        reader.problem(use.place, "nothing counts \"" + printable(use.name) + "\"" + suggestion(use.name, known));
    }
}

/// Checks the target of an exit rule: the system takes it as a whole transition, so this must exist and be open to the
/// system.
void check_target(Reader& reader, const Source& source, const engine::ExitRule& rule, const std::string& to,
                  const Place& place) {
    const auto& definition = source.definition;
    if (known_state(reader, definition, to, place) == nullptr || !source.map_complete) return;
    const auto edges = definition.between(rule.status, to);
    const bool open = std::any_of(edges.begin(), edges.end(), [](const engine::Transition* edge) {
        const bool system =
            edge->by.empty() || std::find(edge->by.begin(), edge->by.end(), Role::system) != edge->by.end();
        return system && !edge->force;
    });
    if (edges.empty()) {
        reader.problem(place, "there is no transition " + rule.status + " → " + to + " that this rule could take");
    } else if (!open) {
        reader.problem(place, "the transition " + rule.status + " → " + to +
                                  " is not open to the exit monitor: add system to its by, without force");
    }
}

void check_cases(Reader& reader, const engine::ExitRule& rule, const RuleSource& places) {
    std::vector<engine::Condition> conditions;
    for (std::size_t i = 0; i < rule.targets.size(); ++i) {
        const auto& when = rule.targets[i].when;
        if (!when) return;
        for (const auto& earlier : conditions) {
            if (const auto both = both_hold(earlier, when)) {
                reader.problem(places.targets[i], "ambiguous: \"" + earlier.text() + "\" and \"" + when->text() +
                                                      "\" both hold for " + *both);
            }
        }
        conditions.push_back(*when);
    }
    const auto none = none_holds(conditions);
    if (!conditions.empty() && none) {
        reader.problem(places.outcome, "then_when does not cover everything: no case holds for " + *none);
    }
}

void check_crash(Reader& reader, const Source& source, const engine::ExitRule& rule, const RuleSource& places,
                 const engine::State& state) {
    const auto& definition = source.definition;
    // A workflow without a stuck state (for example minimal.yml) leaves crashed tasks to a human, which
    // is valid.
    const auto* stuck = definition.that_means(engine::Meaning::stuck);
    if (rule.stuck_after > 0 && source.map_complete && stuck != nullptr &&
        !definition.has_transition(rule.status, stuck->name)) {
        reader.problem(*places.stuck_after,
                       "stuck_after needs a transition " + rule.status + " → " + stuck->name + ", and there is none");
    }
    if (rule.respawn && state.respawn_prompt.empty()) {
        reader.problem(*places.respawn, "respawn needs a respawn_prompt in the state " + rule.status);
    }
}

void check_rules(Reader& reader, const Source& source) {
    const auto& definition = source.definition;
    const bool statuses_known = std::all_of(definition.exit_rules.begin(), definition.exit_rules.end(),
                                            [&](const auto& rule) { return definition.state(rule.status) != nullptr; });
    for (std::size_t i = 0; i < source.rules.size(); ++i) {
        const auto& rule = definition.exit_rules[i];
        const auto& places = source.rules[i];
        const auto* state = known_state(reader, definition, rule.status, places.status);
        if (state == nullptr) continue;
        if (state->terminal)
            reader.problem(places.status, "the terminal state " + rule.status + " has no agent that could exit");
        bool artifact_before = false;
        for (std::size_t k = 0; k < i; ++k) {
            const auto& earlier = definition.exit_rules[k];
            if (earlier.status != rule.status) continue;
            artifact_before = artifact_before || earlier.has_artifact;
            if (earlier.has_artifact) continue;
            reader.problem(places.at, "never reached: the rule for " + rule.status + " in line " +
                                          std::to_string(source.rules[k].at.line) + " always applies");
            break;
        }
        if (places.no_artifact && !artifact_before && source.rules_complete && statuses_known) {
            reader.problem(*places.no_artifact,
                           "no_artifact needs a has_artifact rule for " + rule.status + " before it");
        }
        for (std::size_t k = 0; k < rule.targets.size(); ++k) {
            check_target(reader, source, rule, rule.targets[k].to, places.targets[k]);
        }
        check_cases(reader, rule, places);
        if (rule.action == ExitAction::crash) check_crash(reader, source, rule, places, *state);
    }
}

}  // namespace

void check_names(Reader& reader, const Source& source, std::string_view text) {
    check_states(reader, source);
    check_prompts(reader, source, text);
    if (source.definition.states.empty()) return;
    check_transitions(reader, source);
    check_children(reader, source);
    if (source.map_complete) check_facts(reader, source);
    if (source.map_complete) check_fields(reader, source);
    check_rules(reader, source);
}

}  // namespace orange::workflow
