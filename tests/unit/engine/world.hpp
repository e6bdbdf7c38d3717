#pragma once

#include <string>

#include "daemon/engine/decide.hpp"

namespace orange::engine {

inline Transition edge(std::vector<std::string> from, std::string to, std::vector<Role> by = {}) {
    Transition transition;
    transition.from = std::move(from);
    transition.to = std::move(to);
    transition.by = std::move(by);
    return transition;
}

inline Transition any(std::string to, std::vector<Role> by = {}) {
    Transition transition = edge({}, std::move(to), std::move(by));
    transition.any_active = true;
    return transition;
}

inline Gate verdict_gate(Verdict verdict) {
    Gate gate;
    gate.section = "Review";
    gate.verdict = verdict;
    gate.verdict_line = VerdictLine::first;
    return gate;
}

/// A workflow small enough to see through: pending → working ⇄ review → reviewing → done, with stuck.
inline Definition small_definition() {
    Definition definition;
    definition.name = "small";
    definition.states = {{"pending", false, {}, ""},
                         {"working", false, Role::worker, "again"},
                         {"review", false, Role::reviewer, "look"},
                         {"reviewing", false, {}, ""},
                         {"stuck", false, Role::worker, "fix"},
                         {"done", true, {}, ""},
                         {"cancelled", true, {}, ""}};
    definition.prompts = {{"again", "Again."}, {"look", "Look."}, {"fix", "Fix."}};

    definition.transitions.push_back(edge({"pending"}, "working", {Role::human, Role::system}));
    auto to_review = edge({"working"}, "review", {Role::worker, Role::human, Role::system});
    to_review.gate = Gate{"Handoff", true, {"DONE"}, {}, VerdictLine::any, true};
    to_review.hooks = {{"increment", {{"field", "review_round"}}, {}}, {"spawn_reviewer", {{"prompt", "look"}}, {}}};
    definition.transitions.push_back(to_review);
    auto pass = edge({"review"}, "reviewing");
    pass.gate = verdict_gate(Verdict::pass);
    definition.transitions.push_back(pass);
    auto fail = edge({"review"}, "working");
    fail.gate = verdict_gate(Verdict::fail);
    fail.when = Condition{"review_round", Comparison::less, 2};
    fail.hooks = {{"kill_reviewer", {}, {}}};
    definition.transitions.push_back(fail);
    auto give_up = edge({"review"}, "stuck");
    give_up.gate = verdict_gate(Verdict::fail);
    give_up.when = Condition{"review_round", Comparison::greater_equal, 2};
    give_up.hooks = {{"kill_reviewer", {}, {}}, {"notify", {}, {}}};
    definition.transitions.push_back(give_up);
    definition.transitions.push_back(edge({"working"}, "stuck"));
    definition.transitions.push_back(edge({"stuck"}, "reviewing", {Role::human}));
    definition.transitions.push_back(edge({"reviewing"}, "done", {Role::system}));
    definition.transitions.push_back(any("cancelled", {Role::human, Role::system}));
    auto forced = any("done", {Role::system});
    forced.force = true;
    definition.transitions.push_back(forced);

    const Gate handoff{"Handoff", true, {"DONE"}, {}, VerdictLine::any, true};
    definition.exit_rules = {
        {"working", handoff, ExitAction::advance, {{{}, "review"}}, 0, false},
        {"working", {}, ExitAction::crash, {}, 2, false},
        {"review", verdict_gate(Verdict::pass), ExitAction::advance, {{{}, "reviewing"}}, 0, false},
        {"review",
         verdict_gate(Verdict::fail),
         ExitAction::advance,
         {{Condition{"review_round", Comparison::less, 2}, "working"},
          {Condition{"review_round", Comparison::greater_equal, 2}, "stuck"}},
         0,
         false},
        {"review", {}, ExitAction::crash, {}, 2, true},
        {"stuck", {}, ExitAction::mark_dead, {}, 0, false},
    };
    resolve_meanings(definition);
    return definition;
}

struct World {
    Definition definition = small_definition();
    Task task;
    Artifacts artifacts;
    std::map<std::string, std::string> entry;
    Facts facts{true};

    explicit World(std::string status) {
        task.id.value = "0123456789abcdefghijk";
        task.status = std::move(status);
    }
    World& section(const std::string& heading, const std::string& text) {
        artifacts.sections[heading] = {text};
        return *this;
    }
    TransitionFacts given() const { return {task, artifacts, entry, facts}; }
    RequestOutcome request(const std::string& to, Role by, bool force = false) const {
        return decide_request(definition, given(), {to, by, force});
    }
    /// The decision, or the refusal as the caller gets it.
    Result<Decision> ask(const std::string& to, Role by, bool force = false) const {
        auto outcome = request(to, by, force);
        if (const auto* refusal = std::get_if<Refusal>(&outcome)) return worded(*refusal);
        return std::get<Decision>(std::move(outcome));
    }
    Refusal refusal(const std::string& to, Role by, bool force = false) const {
        return std::get<Refusal>(request(to, by, force));
    }
    ExitOutcome exit(Role role, int status = 1) const { return decide_exit(definition, given(), {role, status}); }
};

inline std::vector<std::string> names_of(const Decision& decision) {
    std::vector<std::string> names;
    for (const auto& action : decision.actions) names.push_back(action.name);
    return names;
}

}  // namespace orange::engine
