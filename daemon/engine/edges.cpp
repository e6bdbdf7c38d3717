#include "daemon/engine/edges.hpp"

#include <algorithm>
#include <limits>

#include "common/base/text.hpp"

namespace orange::engine {
namespace {

/// Returns the value of a decimal integer; 0 for any other text, which the loader refuses.
std::int64_t integer_of(const std::string& text) {
    const bool negative = text.starts_with('-');
    std::uint64_t value = 0;
    for (const char c : text.substr(negative ? 1 : 0)) {
        if (c < '0' || c > '9') return 0;
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return negative ? static_cast<std::int64_t>(0 - value) : static_cast<std::int64_t>(value);
}

class Counters {
  public:
    Counters(const Task& task, std::map<std::string, std::int64_t>& values) : task_(task), values_(values) {}

    void set(const std::string& field, std::int64_t value) { values_[field] = value; }

    void increment(const std::string& field) {
        const auto found = values_.find(field);
        const std::int64_t now = found == values_.end() ? task_.counter(field) : found->second;
        values_[field] = now == std::numeric_limits<std::int64_t>::max() ? now : now + 1;
    }

  private:
    const Task& task_;
    std::map<std::string, std::int64_t>& values_;
};

}  // namespace

std::string called(const Task& task) {
    return task.id.empty() ? "the task" : "task " + task.id.value;
}

std::string listed(std::vector<std::string> parts, std::string_view last, std::string_view comma) {
    if (parts.size() < 2) return join(parts, comma);
    const auto end = std::move(parts.back());
    parts.pop_back();
    return join(parts, comma) + std::string(last) + end;
}

std::string role_list(const std::vector<Role>& roles) {
    std::vector<std::string> names;
    for (const auto role : roles) names.emplace_back(name_of(role));
    return listed(std::move(names), " or ");
}

std::string gate_text(const Gate& gate, const Argvs& project_checks) {
    auto facts = facts_text(gate.facts, project_checks);
    if (gate.attempts) facts = facts.empty() ? "attempts" : "attempts, and " + facts;
    if (gate.section.empty() && gate.children) return facts.empty() ? "sub-tasks" : "sub-tasks, and " + facts;
    if (gate.section.empty()) return facts;
    std::string text = "## " + gate.section;
    if (gate.verdict) text += ", Verdict: " + name_text(*gate.verdict);
    std::vector<std::string> fields;
    for (const auto& field : gate.fields) fields.push_back(field + ":");
    if (!fields.empty()) text += " with a line " + listed(std::move(fields), " or ");
    if (gate.fresh) text += ", changed since the task entered this status";
    if (gate.comments) text += ", with an answer to each comment that was sent";
    if (gate.children) text += ", with the sub-tasks";
    return facts.empty() ? text : text + ", and " + facts;
}

std::optional<std::string> written_problem(const Gate& gate, const TransitionFacts& given) {
    if (gate.attempts && !given.facts.attempts) return "the task was not created with --attempts";
    const bool hidden = given.artifacts.swallowed_by_fence.contains(gate.section);
    // Sub-tasks come first, because they decide what has to be written.
    std::optional<std::string> problem;
    if (!hidden) problem = children_problem(gate, given.task.id, given.artifacts, given.facts.children);
    return problem ? problem : gate_problem(gate, given.artifacts, given.entry_sections);
}

std::optional<std::string> problem_of(const Gate& gate, const TransitionFacts& given) {
    auto problem = written_problem(gate, given);
    return problem ? problem : fact_problem(gate.facts, given.facts);
}

std::optional<std::string> attempts_problem(const Definition& definition, const TransitionFacts& given,
                                            std::string_view to) {
    const auto* state = definition.state(to);
    if (!given.facts.attempts || state == nullptr || state->terminal || state->children) return std::nullopt;
    return called(given.task) + " cannot have the status " + std::string(to) +
           ": several agents try it, each in a sub-task, and none works at it itself";
}

const Target* target_of_rule(const ExitRule& rule, const Task& task) {
    for (const auto& candidate : rule.targets) {
        if (holds(candidate.when, task)) return &candidate;
    }
    return nullptr;
}

OrangeCommand human_command(const Definition& definition, const Task& task, std::string_view to, bool force) {
    const std::string id = task.id.empty() ? "<task id>" : task.id.value;
    const std::string flag = force ? " --force" : "";
    if (definition.means(to, Meaning::done)) return task_command("merge", id, (task.pr_url ? "--via pr" : "") + flag);
    if (definition.means(to, Meaning::cancelled)) return task_command("cancel", id, flag);
    return task_command("update", id, "--status " + std::string(to) + flag);
}

OrangeCommand agent_command(const std::string& to) {
    return task_command("update", {}, "--status " + to);
}

Role role_of_state(const Definition& definition, const State& state) {
    if (state.agent) return *state.agent;
    for (const auto& transition : definition.transitions) {
        if (transition.to != state.name) continue;
        for (const auto& hook : transition.hooks) {
            if (spawned_role(hook) == Role::reviewer) return Role::reviewer;
        }
    }
    return Role::worker;
}

Decision decision_for(const Definition& definition, const Task& task, const Transition& transition) {
    Decision decision;
    decision.from = task.status;
    decision.to = transition.to;
    Counters counters(task, decision.counters);
    for (Action action : transition.hooks) {
        const std::string field = action.param("field");
        if (action.name == "set_field") {
            counters.set(field, integer_of(action.param("value")));
        } else if (action.name == "increment") {
            counters.increment(field);
        } else {
            if (const auto increment = action.params.extract("increment")) counters.increment(increment.mapped());
            decision.actions.push_back(std::move(action));
        }
    }
    const State* state = definition.state(transition.to);
    if (state != nullptr && state->agent) {
        decision.actions.push_back(
            {std::string(k_ensure_agent), {{"role", name_text(*state->agent)}, {"prompt", state->respawn_prompt}}, {}});
    }
    return decision;
}

}  // namespace orange::engine
