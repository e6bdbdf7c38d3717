#include "daemon/engine/definition.hpp"

#include <algorithm>

namespace orange::engine {
namespace {

std::string_view usual_name(Meaning meaning) {
    return meaning == Meaning::initial ? "pending" : name_of(meaning);
}

enum class Match { none, any_active, list, exact };

Match match_of(const Definition& definition, const Transition& transition, std::string_view from) {
    if (transition.any_active) {
        const State* state = definition.state(from);
        return state != nullptr && !state->terminal && transition.to != from ? Match::any_active : Match::none;
    }
    if (std::find(transition.from.begin(), transition.from.end(), from) == transition.from.end()) return Match::none;
    return transition.from.size() == 1 ? Match::exact : Match::list;
}

}  // namespace

bool Condition::holds_for(std::int64_t actual) const {
    switch (comparison) {
        case Comparison::less:
            return actual < value;
        case Comparison::greater:
            return actual > value;
        case Comparison::less_equal:
            return actual <= value;
        case Comparison::greater_equal:
            return actual >= value;
        case Comparison::equal:
            return actual == value;
        case Comparison::not_equal:
            return actual != value;
    }
    return false;
}

std::string Condition::text() const {
    return field + " " + std::string(row_of(comparison).name) + " " + std::to_string(value);
}

bool holds(const std::optional<Condition>& when, const Task& task) {
    return !when || when->holds_for(task.counter(when->field));
}

std::string_view name_of(Verdict verdict) {
    return verdict == Verdict::pass ? "PASS" : "FAIL";
}

const State* Definition::state(std::string_view wanted) const {
    for (const auto& state : states) {
        if (state.name == wanted) return &state;
    }
    return nullptr;
}

const State* Definition::that_means(Meaning meaning) const {
    const auto found =
        std::find_if(states.begin(), states.end(), [meaning](const State& state) { return state.meaning == meaning; });
    return found == states.end() ? nullptr : &*found;
}

bool Definition::means(std::string_view wanted, Meaning meaning) const {
    const State* found = state(wanted);
    return found != nullptr && found->meaning == meaning;
}

std::string Definition::name_for(Meaning meaning) const {
    const State* found = that_means(meaning);
    return found != nullptr ? found->name : std::string(usual_name(meaning));
}

const State& Definition::initial() const {
    const State* found = that_means(Meaning::initial);
    return found != nullptr ? *found : states.front();
}

std::vector<const Transition*> Definition::between(std::string_view from, std::string_view to) const {
    std::vector<const Transition*> found;
    Match best = Match::any_active;
    for (const auto& transition : transitions) {
        if (transition.to != to) continue;
        const Match match = match_of(*this, transition, from);
        if (match == Match::none || match < best) continue;
        if (match > best) found.clear();
        best = match;
        found.push_back(&transition);
    }
    return found;
}

std::vector<std::string> Definition::state_names() const {
    std::vector<std::string> names;
    for (const auto& state : states) names.push_back(state.name);
    return names;
}

std::vector<std::string> Definition::targets_from(std::string_view from) const {
    std::vector<std::string> targets;
    for (const auto& transition : transitions) {
        if (match_of(*this, transition, from) == Match::none) continue;
        if (std::find(targets.begin(), targets.end(), transition.to) == targets.end()) targets.push_back(transition.to);
    }
    return targets;
}

void resolve_meanings(Definition& definition) {
    for (const Meaning meaning : k_meanings) {
        if (definition.that_means(meaning) != nullptr) continue;
        for (auto& state : definition.states) {
            if (state.meaning == Meaning::none && state.name == usual_name(meaning)) state.meaning = meaning;
        }
    }
    if (definition.that_means(Meaning::initial) == nullptr && !definition.states.empty() &&
        definition.states.front().meaning == Meaning::none) {
        definition.states.front().meaning = Meaning::initial;
    }
}

std::optional<Role> spawned_role(const Action& hook) {
    if (hook.name == "spawn_reviewer") return Role::reviewer;
    if (hook.name != "spawn_agent") return std::nullopt;
    const auto harness = hook.param("harness");
    return harness == k_review_harness || harness == k_second_harness ? Role::reviewer : Role::worker;
}

std::string harness_word(const Action& hook) {
    const auto role = spawned_role(hook);
    if (!role) return {};
    auto word = hook.param("harness");
    if (word.empty()) word = *role == Role::reviewer ? k_review_harness : k_task_harness;
    return word;
}

std::string harness_word(const Definition& definition, std::string_view status, Role role) {
    for (const auto& transition : definition.transitions) {
        if (transition.to != status) continue;
        for (const auto& hook : transition.hooks) {
            if (spawned_role(hook) == role) return harness_word(hook);
        }
    }
    return role == Role::reviewer ? k_review_harness : k_task_harness;
}

}  // namespace orange::engine
