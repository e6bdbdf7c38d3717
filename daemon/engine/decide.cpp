#include "daemon/engine/decide.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/engine/edges.hpp"

namespace orange::engine {
namespace {

/// Returns `edges` without those that the caller may not ask for.
std::vector<const Transition*> askable(std::vector<const Transition*> edges, Role by) {
    std::erase_if(edges, [by](const Transition* edge) { return !may_ask(*edge, by); });
    return edges;
}

/// Returns another transition from this state whose guard and gate hold now, with its command. A reviewer whose verdict
/// does not fit needs it.
std::string open_alternative(const Definition& definition, const TransitionFacts& given, const Request& request) {
    for (const auto& to : definition.targets_from(given.task.status)) {
        if (to == request.to) continue;
        for (const auto* edge : askable(definition.between(given.task.status, to), request.by)) {
            if (!edge->gate || !holds(edge->when, given.task) || edge->force) continue;
            if (!problem_of(*edge->gate, given)) {
                return "\nThis is possible now:\n  " + command_for(definition, given.task, to, request.by).text();
            }
        }
    }
    return {};
}

/// Returns what a verdict says first, or the newest question of an agent that gives up.
std::string words_for(const Definition& definition, const TransitionFacts& given, const Transition& edge) {
    const auto text_of = [&](const std::string& heading) -> std::string_view {
        const auto found = given.artifacts.sections.find(heading);
        return found == given.artifacts.sections.end() ? std::string_view() : found->second.text;
    };
    if (edge.gate && edge.gate->verdict) return first_point(text_of(edge.gate->section));
    if (!definition.means(edge.to, Meaning::stuck)) return {};
    const bool asks = !is_unchanged(given.artifacts, given.entry_sections, "Questions");
    return asks ? first_question(text_of("Questions")) : std::string();
}

}  // namespace

RequestOutcome decide_request(const Definition& definition, const TransitionFacts& given, const Request& request) {
    const Task& task = given.task;
    const auto edges = definition.between(task.status, request.to);
    if (request.by == Role::unknown) return forbidden(definition, task, request, edges);
    if (edges.empty()) return illegal(definition, task, request);
    if (auto problem = attempts_problem(definition, given, request.to)) {
        return Refusal{ErrorCode::conflict, std::move(*problem),
                       "To see how far they are:", OrangeCommand{"compare", task.id.value}};
    }

    auto candidates = askable(edges, request.by);
    if (candidates.empty()) return forbidden(definition, task, request, edges);

    std::erase_if(candidates, [&](const Transition* edge) { return edge->force && !request.force; });
    if (candidates.empty()) return needs_force(definition, task, *edges.front());

    auto holding = candidates;
    std::erase_if(holding, [&](const Transition* edge) { return !holds(edge->when, task); });
    if (holding.empty()) {
        auto refusal = guard_failed(task, candidates);
        refusal.why += open_alternative(definition, given, request);
        return refusal;
    }
    // The loader proves that guards are exclusive. A definition that was made by hand may have others, and its order
    // must not decide.
    if (holding.size() > 1) {
        return Refusal{ErrorCode::guard_failed,
                       task.status + " → " + request.to + " is ambiguous in the workflow " + definition.name};
    }

    const Transition& edge = *holding.front();
    if (edge.gate) {
        const auto& facts = edge.gate->facts;
        Refusal refusal{ErrorCode::gate_failed};
        if (auto problem = written_problem(*edge.gate, given)) {
            refusal.why = *problem + open_alternative(definition, given, request);
            refusal.section = edge.gate->section;
            return refusal;
        }
        if (auto problem = fact_problem(facts, given.facts)) {
            refusal.why = std::move(*problem);
            refusal.by_check = checks_failed(facts, given.facts);
            return refusal;
        }
        if (awaits_checks(facts, given.facts)) {
            refusal.why = awaited_text(facts, given.facts, edge.to);
            refusal.checks = AwaitChecks{edge.to, given.facts.commit, checks_of(facts, given.facts)};
            return refusal;
        }
    }
    auto decision = decision_for(definition, task, edge);
    decision.attested = request.vouched || !edge.gate || !edge.gate->verdict;
    if (edge.gate) decision.verdict = edge.gate->verdict;
    decision.words = words_for(definition, given, edge);
    return decision;
}

Result<Decision> decide_done(const Definition& definition, const TransitionFacts& given) {
    const Task& task = given.task;
    const auto done = definition.name_for(Meaning::done);
    const auto edges = definition.between(task.status, done);
    if (edges.empty()) return worded(illegal(definition, task, {done, Role::system, true}));
    const auto rank = [&task](const Transition* edge) {
        return (edge->force ? 2 : 0) + (holds(edge->when, task) ? 0 : 1);
    };
    const auto best = std::min_element(edges.begin(), edges.end(),
                                       [&](const Transition* a, const Transition* b) { return rank(a) < rank(b); });
    return decision_for(definition, task, **best);
}

Result<std::string> spawn_target(const Definition& definition, const Task& task) {
    const auto& initial = definition.initial();
    if (task.status != initial.name) {
        const auto* state = definition.state(task.status);
        const bool ended = state != nullptr && state->terminal;
        const auto why = ended
                             ? " is " + task.status + " and has no agent to start. Its output"
                             : " has already started (status " + printable(task.status) + "). To restart a dead agent";
        const auto way = task_command(ended ? "log" : "respawn", task.id.value);
        return Error(ErrorCode::illegal_transition, called(task) + why + ":\n  " + way.text());
    }
    const auto clarification = definition.name_for(Meaning::clarification);
    if (trim(task.summary).empty() && definition.has_transition(initial.name, clarification)) return clarification;
    for (auto& to : definition.targets_from(initial.name)) {
        const State* state = definition.state(to);
        const auto edges = askable(definition.between(initial.name, to), Role::system);
        const bool ordinary =
            state != nullptr && !state->terminal && state->meaning == Meaning::none && !state->children;
        if (ordinary && !edges.empty() && !edges.front()->force) return std::move(to);
    }
    return Error(ErrorCode::conflict, "workflow " + definition.name + " has no transition that starts a task from " +
                                          initial.name + "; use " + agent_command("STATUS").text());
}

}  // namespace orange::engine
