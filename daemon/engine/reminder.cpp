#include "daemon/engine/reminder.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/engine/edges.hpp"

namespace orange::engine {
namespace {

/// Returns the rules that lead on from the status when a section is written.
std::vector<const ExitRule*> rules_of(const Definition& definition, const Task& task) {
    std::vector<const ExitRule*> rules;
    for (const auto& rule : definition.exit_rules) {
        const bool leads_on = rule.status == task.status && rule.has_artifact && rule.action == ExitAction::advance;
        if (leads_on && target_of_rule(rule, task) != nullptr) rules.push_back(&rule);
    }
    return rules;
}

/// Returns the rule whose artifact exists; nullptr if none does.
const ExitRule* ready_rule(const std::vector<const ExitRule*>& rules, const TransitionFacts& given) {
    for (const auto* rule : rules) {
        if (!gate_problem(*rule->has_artifact, given.artifacts, given.entry_sections)) return rule;
    }
    return nullptr;
}

/// Returns one command for each of the rules, with the verdict that it is for.
std::string commands_for(const std::vector<const ExitRule*>& rules, const Task& task) {
    std::vector<std::string> commands;
    for (const auto* rule : rules) {
        const auto& verdict = rule->has_artifact->verdict;
        commands.push_back(agent_command(target_of_rule(*rule, task)->to).text() +
                           (verdict ? " (Verdict: " + name_text(*verdict) + ")" : std::string()));
    }
    return join(commands, " or ");
}

/// Tells an agent that may be waiting for its human which status says so.
std::string question_hint(const Definition& definition, const Task& task, Role by) {
    const auto* state = definition.that_means(Meaning::clarification);
    if (state == nullptr) return {};
    for (const auto* edge : definition.between(task.status, state->name)) {
        if (may_ask(*edge, by)) {
            return " If you need an answer first, write your questions under ## Questions and run: " +
                   agent_command(state->name).text();
        }
    }
    return {};
}

/// Returns the reminder for a worker that has split its task, and has not said that it waits.
std::optional<std::string> forgotten_wait(const Definition& definition, const TransitionFacts& given, Role by) {
    const auto open = not_ended(given.facts.children);
    if (open.empty()) return std::nullopt;
    for (const auto& to : definition.targets_from(given.task.status)) {
        const auto* target = definition.state(to);
        const auto edges = definition.between(given.task.status, to);
        const bool may = std::ranges::any_of(edges, [by](const auto* edge) { return may_ask(*edge, by); });
        if (target == nullptr || !target->children || !may) continue;
        const auto outcome = decide_request(definition, given, {to, by, false, true});
        const auto* refusal = std::get_if<Refusal>(&outcome);
        const bool ready = refusal == nullptr || refusal->checks;
        const auto& gate = edges.front()->gate;
        if (ready && gate && !gate->section.empty()) {
            return "Your ## " + gate->section + " is written. Run: " + agent_command(to).text();
        }
        const auto sentence = "Your turn ended, but the task is still in " + given.task.status +
                              ", and these sub-tasks have not ended: " + open +
                              ". To wait for them, run: " + agent_command(to).text();
        return ready ? sentence : sentence + "\nBefore that: " + worded(*refusal).message;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> forgotten(const Definition& definition, const TransitionFacts& given) {
    const Task& task = given.task;
    const State* state = definition.state(task.status);
    if (state == nullptr || state->terminal || !state->agent) return std::nullopt;
    const auto rules = rules_of(definition, task);
    if (rules.empty()) return std::nullopt;
    if (const auto* rule = ready_rule(rules, given)) {
        const auto& to = target_of_rule(*rule, task)->to;
        const auto outcome = decide_request(definition, given, {to, *state->agent, false, true});
        const auto* refusal = std::get_if<Refusal>(&outcome);
        if (refusal == nullptr || refusal->checks)
            return "Your ## " + rule->has_artifact->section + " is written. Run: " + agent_command(to).text();
        // The transition requires more than the rule does.
        return "The task is still in " + task.status + ": " + worded(*refusal).message;
    }
    if (auto wait = forgotten_wait(definition, given, *state->agent)) return wait;
    const auto problem = gate_problem(*rules.front()->has_artifact, given.artifacts, given.entry_sections);
    const bool of_verdict = rules.size() > 1 && rules.front()->has_artifact->verdict.has_value();
    auto missing = *problem;
    if (of_verdict) {
        missing = "write ## " + rules.front()->has_artifact->section +
                  " into TASK.md, with your verdict (PASS or FAIL) in its first line: Verdict: PASS or Verdict: FAIL";
    }
    return "Your turn ended, but the task is still in " + task.status + ": " + missing +
           ". Then run: " + commands_for(rules, task) + "." + question_hint(definition, task, *state->agent);
}

std::optional<Decision> decide_idle(const Definition& definition, const TransitionFacts& given) {
    const Task& task = given.task;
    const State* state = definition.state(task.status);
    if (state == nullptr || state->terminal || !state->agent) return std::nullopt;
    const auto* rule = ready_rule(rules_of(definition, task), given);
    if (rule == nullptr) return std::nullopt;
    auto outcome = decide_request(definition, given, {target_of_rule(*rule, task)->to, Role::system, false, false});
    auto* decision = std::get_if<Decision>(&outcome);
    if (decision == nullptr) return std::nullopt;
    decision->auto_reason = name_text(*state->agent) + " is idle, ## " + rule->has_artifact->section + " is there";
    return std::move(*decision);
}

bool leads_on(const Definition& definition, const Task& task) {
    const State* state = definition.state(task.status);
    return state != nullptr && !state->terminal && state->agent && !rules_of(definition, task).empty();
}

std::optional<Handover> handover(const Definition& definition, const TransitionFacts& given) {
    if (!leads_on(definition, given.task)) return std::nullopt;
    const auto* rule = ready_rule(rules_of(definition, given.task), given);
    if (rule == nullptr) return std::nullopt;
    return Handover{rule->has_artifact->section, target_of_rule(*rule, given.task)->to};
}

IdleStep idle_step(const std::string& text, const std::optional<Reminder>& told, Timestamp entered,
                   Timestamp idle_since, std::optional<Timestamp> human_at, const IdleTimes& times) {
    const bool same = told && told->text == text && told->entered == entered;
    IdleStep step;
    step.kind = same && told->times > 1 ? IdleStep::Kind::give_up : IdleStep::Kind::remind;
    step.at = idle_since + times.idle_after;
    if (same) step.at = std::max(step.at, told->at + times.remind_again);
    if (human_at) step.at = std::max(step.at, *human_at + times.idle_after);
    return step;
}

}  // namespace orange::engine
