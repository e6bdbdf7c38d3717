#include "common/base/text.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/edges.hpp"
#include "daemon/engine/needs.hpp"

namespace orange::engine {
namespace {

std::string exited(const AgentExit& exit) {
    return name_text(exit.role) + (exit.exit_status < 0 ? " exited with an unknown status"
                                                        : " exited with status " + std::to_string(exit.exit_status));
}

bool applies(const ExitRule& rule, const TransitionFacts& given) {
    return rule.status == given.task.status &&
           (!rule.has_artifact || !gate_problem(*rule.has_artifact, given.artifacts, given.entry_sections));
}

/// Returns the sections that the rules of this status wait for: "without writing ## Handoff".
std::string awaited(const Definition& definition, const TransitionFacts& given) {
    std::string text;
    for (const auto& rule : definition.exit_rules) {
        if (rule.status != given.task.status || !rule.has_artifact) continue;
        const auto& section = rule.has_artifact->section;
        const std::string heading = "## " + section;
        auto without_answers = *rule.has_artifact;
        without_answers.comments = false;
        const bool lacks_answers = rule.has_artifact->comments && given.artifacts.comments_unread.empty() &&
                                   !gate_problem(without_answers, given.artifacts, given.entry_sections);
        const std::string verb = lacks_answers                                ? " without an answer to each comment in "
                                 : given.artifacts.sections.contains(section) ? " without changing "
                                                                              : " without writing ";
        if (text.find(heading) == std::string::npos) text += (text.empty() ? verb : " or ") + heading;
    }
    return text;
}

/// Returns the transition to `stuck` that a crash takes: any that the workflow has, preferably one without force.
const Transition* way_to_stuck(const Definition& definition, std::string_view from) {
    const Transition* way = nullptr;
    for (const auto* edge : definition.between(from, definition.name_for(Meaning::stuck))) {
        if (way == nullptr || (way->force && !edge->force)) way = edge;
    }
    return way;
}

ExitOutcome crashed(const Definition& definition, const TransitionFacts& given, const ExitRule& rule,
                    std::string reason) {
    const Task& task = given.task;
    Crash crash{task.crash_count() + 1, rule.respawn, std::move(reason)};
    if (rule.stuck_after == 0 || crash.crash_count < rule.stuck_after) return crash;
    crash.respawn = false;
    const Transition* way = way_to_stuck(definition, task.status);
    if (way == nullptr) return crash;  // a workflow without `stuck`: a human has to look
    Decision decision = decision_for(definition, task, *way);
    decision.auto_reason = "crash " + std::to_string(crash.crash_count) + " in " + task.status + ": " + crash.reason;
    return Advance{std::move(decision), crash};
}

/// An advance that its own transition refuses counts as a crash, by the crash rule of the status.
ExitOutcome rejected(const Definition& definition, const TransitionFacts& given, const AgentExit& exit,
                     const Refusal& refusal) {
    const auto text = worded(refusal).message;
    const std::string reason =
        exited(exit) + ", and the task could not advance: " + (refusal.by_check ? std::string(first_line(text)) : text);
    const auto telling = [&](ExitOutcome outcome) {
        if (auto* crash = std::get_if<Crash>(&outcome); crash && refusal.by_check) crash->tell = text;
        return outcome;
    };
    for (const auto& rule : definition.exit_rules) {
        if (rule.status == given.task.status && rule.action == ExitAction::crash) {
            return telling(crashed(definition, given, rule, reason));
        }
    }
    return telling(Crash{given.task.crash_count() + 1, false, reason});
}

ExitOutcome advanced(const Definition& definition, const TransitionFacts& given, const ExitRule& rule,
                     const AgentExit& exit) {
    const auto* target = target_of_rule(rule, given.task);
    if (target == nullptr) {
        return rejected(definition, given, exit, {ErrorCode::guard_failed, "no then_when holds"});
    }
    // The author is dead, so it is not certain who wrote a verdict.
    auto outcome = decide_request(definition, given, {target->to, Role::system, false, false});
    if (auto* refusal = std::get_if<Refusal>(&outcome)) {
        if (refusal->checks) return std::move(*refusal->checks);
        return rejected(definition, given, exit, *refusal);
    }
    auto& decision = std::get<Decision>(outcome);
    decision.auto_reason =
        exited(exit) + (rule.has_artifact ? ", ## " + rule.has_artifact->section + " is there" : std::string{});
    return Advance{std::move(decision), std::nullopt};
}

}  // namespace

ExitOutcome decide_exit(const Definition& definition, const TransitionFacts& given, const AgentExit& exit) {
    const std::string& status = given.task.status;
    const State* state = definition.state(status);
    if (state == nullptr || state->terminal) return NothingToDo{"nothing is awaited in " + status};
    if (exit.role != Role::worker && exit.role != Role::reviewer) return NothingToDo{"not an agent"};
    if (state->agent && exit.role != *state->agent) {
        return NothingToDo{status + " waits for its " + name_text(*state->agent) + ", and the " + exited(exit)};
    }
    for (const auto& rule : definition.exit_rules) {
        if (!applies(rule, given)) continue;
        switch (rule.action) {
            case ExitAction::advance:
                return advanced(definition, given, rule, exit);
            case ExitAction::crash:
                return crashed(definition, given, rule, exited(exit) + awaited(definition, given));
            case ExitAction::mark_dead:
                return MarkDead{exited(exit)};
        }
    }
    // An agent that asked a question and ended well waits for its answer.
    const bool asked = state->meaning == Meaning::clarification && exit.exit_status == 0;
    if (is_for_agent(definition, *state) && !asked) {
        return MarkDead{exited(exit) + ", and the workflow " + definition.name + " has no exit rule for that"};
    }
    return NothingToDo{"the workflow has no exit rule that applies in " + status};
}

}  // namespace orange::engine
