#include "daemon/engine/definition.hpp"

#include <algorithm>

namespace orange::engine {
namespace {

std::string_view symbol_of(Comparison comparison) {
    switch (comparison) {
        case Comparison::less:
            return "<";
        case Comparison::greater:
            return ">";
        case Comparison::less_equal:
            return "<=";
        case Comparison::greater_equal:
            return ">=";
        case Comparison::equal:
            return "==";
        case Comparison::not_equal:
            return "!=";
    }
    return "==";
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
    return field + " " + std::string(symbol_of(comparison)) + " " + std::to_string(value);
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

const State& Definition::initial() const {
    const State* pending = state("pending");
    return pending != nullptr ? *pending : states.front();
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

std::vector<std::string> Definition::targets_from(std::string_view from) const {
    std::vector<std::string> targets;
    for (const auto& transition : transitions) {
        if (match_of(*this, transition, from) == Match::none) continue;
        if (std::find(targets.begin(), targets.end(), transition.to) == targets.end()) targets.push_back(transition.to);
    }
    return targets;
}

std::optional<Role> spawned_role(const Action& hook) {
    if (hook.name == "spawn_reviewer") return Role::reviewer;
    if (hook.name != "spawn_agent") return std::nullopt;
    return hook.param("harness") == "review" ? Role::reviewer : Role::worker;
}

}  // namespace orange::engine
