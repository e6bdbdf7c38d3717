#include "daemon/engine/explain.hpp"

#include "common/base/text.hpp"
#include "daemon/engine/edges.hpp"
#include "daemon/engine/permissions.hpp"

namespace orange::engine {

std::vector<EdgeExplanation> explain(const Definition& definition, const TransitionFacts& given) {
    std::vector<EdgeExplanation> explanations;
    const Task& task = given.task;
    for (const auto& to : definition.targets_from(task.status)) {
        for (const auto* edge : definition.between(task.status, to)) {
            if (edge->gate && edge->gate->attempts && !given.facts.attempts) continue;
            EdgeExplanation explanation;
            explanation.to = to;
            if (const auto* target = definition.state(to)) explanation.means = target->meaning;
            explanation.by = askers(*edge);
            explanation.needs_force = edge->force;
            if (edge->when) {
                explanation.guard = edge->when->text();
                explanation.guard_holds = edge->when->holds_for(task.counter(edge->when->field));
            }
            if (edge->gate) {
                const auto& facts = edge->gate->facts;
                explanation.gate = gate_text(*edge->gate, given.facts.project_checks);
                explanation.gate_problem = problem_of(*edge->gate, given);
                if (!explanation.gate_problem && awaits_checks(facts, given.facts)) {
                    explanation.gate_problem = awaited_text(facts, given.facts, to);
                }
            }
            if (auto problem = attempts_problem(definition, given, to)) explanation.gate_problem = std::move(problem);
            explanations.push_back(std::move(explanation));
        }
    }
    return explanations;
}

std::string describe(const EdgeExplanation& edge) {
    std::string text = "→ " + edge.to + " by " + role_list(edge.by);
    if (edge.needs_force) text += ", only with --force";
    if (!edge.guard.empty()) text += "; when " + edge.guard + (edge.guard_holds ? " (holds)" : " (does not hold)");
    if (!edge.gate.empty()) text += "; needs " + edge.gate;
    if (edge.gate_problem) return text + ". " + *edge.gate_problem + (edge.gate_problem->ends_with('.') ? "" : ".");
    return text + (edge.gate.empty() ? "" : " (holds)");
}

Error explained(Refusal refusal, const Definition& definition, const TransitionFacts& given, const Caller& by) {
    if (refusal.code == ErrorCode::forbidden && by.role != Role::human) {  // the last sentence says who called
        refusal.why.insert(refusal.why.find_last_not_of('.') + 1, " (this call came from " + describe(by) + ")");
    }
    auto error = worded(refusal);
    std::vector<std::string> edges;
    for (const auto& edge : explain(definition, given)) edges.push_back(describe(edge));
    error.details["status"] = given.task.status;
    error.details["edges"] = join(edges, "\n");
    return error;
}

}  // namespace orange::engine
