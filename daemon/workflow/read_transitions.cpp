#include <algorithm>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"
#include "common/model/task.hpp"
#include "daemon/workflow/actions.hpp"
#include "daemon/workflow/reader.hpp"

namespace orange::workflow {
namespace {

bool may_be_counted(const std::string& name) {
    const auto& known = frontmatter_fields();
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& field) { return field.name == name; });
    return found == known.end() || found->is_workflows;
}

std::vector<std::string> action_names() {
    std::vector<std::string> names;
    for (const auto& spec : action_specs()) names.push_back(spec.name);
    return names;
}

void read_field(Reader& reader, const Node& node, const std::string& what, engine::Definition&, Source& source,
                std::string& value) {
    const bool letters = value.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (!letters || value.front() < 'a' || value.front() > 'z') {
        reader.problem(node.place, what + " must be the name of a number of the task, as review_round, but is \"" +
                                       printable(value) + "\"");
    } else if (!may_be_counted(value)) {
        reader.problem(node.place,
                       what + " may not change " + value + ": only numbers of the task's own, as review_round");
    } else {
        source.counted.push_back(value);
    }
}

void read_message(Reader& reader, const Node& node, const ParamSpec& spec, const std::string& what,
                  const std::string& value) {
    const bool known = std::find(spec.choices.begin(), spec.choices.end(), value) != spec.choices.end();
    if (value.find('\n') != std::string::npos) {
        reader.problem(node.place, what + " must be one line");
    } else if (!spec.choices.empty() && !known && value.find(' ') == std::string::npos) {
        // A single word is a misspelt choice, not a sentence for an agent.
        reader.choice(node, what, spec.choices);
    }
}

/// A harness may be defined later than the workflow that names it: only its form is checked here.
void read_harness(Reader& reader, const Node& node, const ParamSpec& spec, const std::string& what,
                  const std::string& value) {
    const bool known = std::find(spec.choices.begin(), spec.choices.end(), value) != spec.choices.end();
    if (known) return;
    if (value == engine::k_task_harness) {
        reader.problem(node.place, what + " starts a reviewer, so it cannot be task, which is the worker's");
    } else if (!is_name(value)) {
        reader.problem(node.place, what + " must be " + join(spec.choices, ", ") +
                                       " or the name of a harness, but is \"" + printable(value) + "\"");
    }
}

void read_param(Reader& reader, const Node& node, const ParamSpec& spec, Source& source, Action& action) {
    const std::string what = action.name + "'s " + spec.name;
    if (spec.kind == ParamKind::argv) {
        action.argv = reader.argv(node, "argv");
        return;
    }
    if (spec.kind == ParamKind::integer || spec.kind == ParamKind::seconds) {
        const bool seconds = spec.kind == ParamKind::seconds;
        const auto value = reader.integer(node, what, seconds ? 1 : INT64_MIN, seconds ? 3600 : INT64_MAX);
        if (value) action.params[spec.name] = std::to_string(*value);
        return;
    }
    auto value = spec.kind == ParamKind::choice ? reader.choice(node, what, spec.choices) : reader.text(node, what);
    if (!value) return;
    if (spec.kind == ParamKind::prompt) source.prompt_uses.push_back({*value, node.place});
    if (spec.kind == ParamKind::harness) read_harness(reader, node, spec, what, *value);
    if (spec.kind == ParamKind::field) read_field(reader, node, what, source.definition, source, *value);
    if (spec.kind == ParamKind::message || spec.kind == ParamKind::text) read_message(reader, node, spec, what, *value);
    action.params[spec.name] = *value;
}

void fill_standards(const ActionSpec& spec, Action& action) {
    for (const auto& param : spec.params) {
        if (!param.standard.empty()) action.params.try_emplace(param.name, param.standard);
    }
    if (action.name == "spawn_agent") {
        const bool reviews = engine::spawned_role(action) == Role::reviewer;
        action.params.try_emplace("permissions", reviews ? "reduced" : "full");
    }
}

void read_hook(Reader& reader, const Node& node, Source& source, std::vector<Action>& hooks) {
    if (!reader.map(node, "a hook")) return;
    const Node* name = reader.required(node, "action", "a hook");
    if (name == nullptr) return;
    Action action;
    action.name = reader.text(*name, "action").value_or("");
    if (action.name.empty()) return;
    const ActionSpec* spec = find_action(action.name);
    if (spec == nullptr) {
        reader.problem(name->place,
                       "unknown action \"" + printable(action.name) + "\"" + suggestion(action.name, action_names()));
        return;
    }
    std::vector<std::string> keys{"action"};
    for (const auto& param : spec->params) keys.push_back(param.name);
    reader.only_keys(node, "the action " + action.name, keys);
    for (const auto& param : spec->params) {
        const Node* value = node.find(param.name);
        if (value != nullptr) {
            read_param(reader, *value, param, source, action);
        } else if (param.required) {
            reader.problem(node.place, "the action " + action.name + " needs a \"" + param.name + "\"");
        }
    }
    fill_standards(*spec, action);
    hooks.push_back(std::move(action));
}

void read_from(Reader& reader, const Node& node, engine::Transition& transition, TransitionSource& places) {
    const auto add = [&](const Node& item) {
        const auto name = reader.text(item, "from");
        if (!name) return;
        if (*name == "*" && node.is_sequence()) {
            reader.problem(item.place, "\"*\" stands alone, not in a list: from: \"*\"");
        } else if (std::find(transition.from.begin(), transition.from.end(), *name) != transition.from.end()) {
            reader.problem(item.place, "\"" + printable(*name) + "\" is in this list twice");
        } else {
            transition.from.push_back(*name);
            places.from.push_back(item.place);
        }
    };
    if (node.is_sequence()) {
        if (!reader.sequence(node, "from")) return;
        if (node.items.empty()) reader.problem(node.place, "from must name at least one state");
        for (const auto& item : node.items) add(item);
    } else if (node.is_scalar() && node.scalar == "*") {
        transition.any_active = true;
    } else {
        add(node);
    }
}

void read_by(Reader& reader, const Node& node, engine::Transition& transition) {
    if (!reader.sequence(node, "by")) return;
    if (node.items.empty()) {
        reader.problem(
            node.place,
            "by is empty, so the transition could never be taken; omit it, or name worker, reviewer, human, system");
    }
    for (const auto& item : node.items) {
        const auto name = reader.choice(item, "by", {"worker", "reviewer", "human", "system"});
        if (!name) continue;
        const Role role = *role_from(*name);
        if (std::find(transition.by.begin(), transition.by.end(), role) != transition.by.end()) {
            reader.problem(item.place, "\"" + *name + "\" is in this list twice");
        }
        transition.by.push_back(role);
    }
}

void read_transition(Reader& reader, const Node& node, Source& source) {
    if (!reader.map(node, "a transition")) return;
    reader.only_keys(node, "a transition", {"from", "to", "by", "gate", "when", "force", "hooks"});
    engine::Transition transition;
    TransitionSource places;
    places.at = places.to = node.place;
    if (const Node* from = reader.required(node, "from", "a transition")) read_from(reader, *from, transition, places);
    if (const Node* to = reader.required(node, "to", "a transition")) {
        transition.to = reader.text(*to, "to").value_or("");
        places.to = to->place;
    }
    if (const Node* by = node.find("by")) read_by(reader, *by, transition);
    if (const Node* gate = node.find("gate")) transition.gate = reader.gate(*gate, "a gate", &places);
    if (const Node* when = node.find("when")) {
        transition.when = reader.condition(*when, source);
        places.when = when->place;
    }
    if (const Node* force = node.find("force")) transition.force = reader.boolean(*force, "force").value_or(false);
    if (const Node* hooks = node.find("hooks"); hooks != nullptr && reader.sequence(*hooks, "hooks")) {
        for (const auto& hook : hooks->items) read_hook(reader, hook, source, transition.hooks);
    }
    if (transition.to.empty() || (transition.from.empty() && !transition.any_active)) return;
    source.definition.transitions.push_back(std::move(transition));
    source.transitions.push_back(std::move(places));
}

}  // namespace

void read_transitions(Reader& reader, const Node& node, Source& source) {
    if (!reader.sequence(node, "transitions")) return;
    if (node.items.empty()) reader.problem(node.place, "transitions must hold at least one transition");
    for (const auto& item : node.items) read_transition(reader, item, source);
}

}  // namespace orange::workflow
