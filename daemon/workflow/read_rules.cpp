#include "daemon/workflow/reader.hpp"

namespace orange::workflow {
namespace {

using engine::ExitAction;

void read_then_when(Reader& reader, const Node& node, Source& source, engine::ExitRule& rule, RuleSource& places) {
    if (!reader.sequence(node, "then_when")) return;
    if (node.items.empty()) reader.problem(node.place, "then_when must hold at least one case");
    for (const auto& item : node.items) {
        if (!reader.map(item, "a case of then_when")) continue;
        reader.only_keys(item, "a case of then_when", {"when", "then"});
        const Node* when = reader.required(item, "when", "a case of then_when");
        const Node* then = reader.required(item, "then", "a case of then_when");
        if (when == nullptr || then == nullptr) continue;
        auto condition = reader.condition(*when, source);
        auto to = reader.text(*then, "then");
        if (!condition || !to) continue;
        rule.targets.push_back({std::move(condition), std::move(*to)});
        places.targets.push_back(then->place);
    }
}

/// Reads `then`, `then_when` or `action`, of which a rule has exactly one. Returns false, with a problem, if it has
/// none or two, or an unknown action.
bool read_outcome(Reader& reader, const Node& node, Source& source, engine::ExitRule& rule, RuleSource& places) {
    const Node* outcomes[] = {node.find("then"), node.find("then_when"), node.find("action")};
    const Node* outcome = nullptr;
    for (const Node* candidate : outcomes) {
        if (candidate == nullptr) continue;
        if (outcome != nullptr) {
            reader.problem(candidate->place, "an exit rule has one of then, then_when and action, and here are two");
            return false;
        }
        outcome = candidate;
    }
    if (outcome == nullptr) {
        reader.problem(node.place, "an exit rule needs one of then, then_when and action");
        return false;
    }
    places.outcome = outcome->place;
    if (outcome == outcomes[2]) {
        const auto name = reader.choice(*outcome, "action", {"crash", "mark_dead"});
        rule.action = name == "crash" ? ExitAction::crash : ExitAction::mark_dead;
        return name.has_value();
    }
    rule.action = ExitAction::advance;
    if (outcome == outcomes[1]) {
        read_then_when(reader, *outcome, source, rule, places);
    } else if (auto to = reader.text(*outcome, "then")) {
        rule.targets.push_back({std::nullopt, std::move(*to)});
        places.targets.push_back(outcome->place);
    }
    return true;
}

void read_crash_keys(Reader& reader, const Node& node, engine::ExitRule& rule, RuleSource& places) {
    const bool crash = rule.action == ExitAction::crash;
    if (const Node* stuck_after = node.find("stuck_after")) {
        places.stuck_after = stuck_after->place;
        rule.stuck_after = reader.integer(*stuck_after, "stuck_after", 1, 1000).value_or(0);
        if (!crash) reader.problem(stuck_after->place, "stuck_after means something only beside action: crash");
    }
    if (const Node* respawn = node.find("respawn")) {
        places.respawn = respawn->place;
        rule.respawn = reader.boolean(*respawn, "respawn").value_or(false);
        if (!crash) reader.problem(respawn->place, "respawn means something only beside action: crash");
    }
}

void read_rule(Reader& reader, const Node& node, Source& source) {
    if (!reader.map(node, "an exit rule")) return;
    reader.only_keys(
        node, "an exit rule",
        {"status", "has_artifact", "no_artifact", "then", "then_when", "action", "stuck_after", "respawn"});
    engine::ExitRule rule;
    RuleSource places;
    places.at = places.status = node.place;
    const auto before = reader.count();
    if (const Node* status = reader.required(node, "status", "an exit rule")) {
        rule.status = reader.text(*status, "status").value_or("");
        places.status = status->place;
    }
    const Node* has = node.find("has_artifact");
    if (has != nullptr) rule.has_artifact = reader.gate(*has, "has_artifact", nullptr);
    if (const Node* no = node.find("no_artifact")) {
        places.no_artifact = no->place;
        if (reader.boolean(*no, "no_artifact") == false) {
            reader.problem(no->place, "no_artifact can only be true; leave it out for a rule that always applies");
        }
        if (has != nullptr) reader.problem(no->place, "a rule has either has_artifact or no_artifact");
    }
    const bool outcome = read_outcome(reader, node, source, rule, places);
    if (outcome) read_crash_keys(reader, node, rule, places);
    if (!outcome || rule.status.empty() || reader.count() != before) return;
    source.definition.exit_rules.push_back(std::move(rule));
    source.rules.push_back(std::move(places));
}

}  // namespace

void read_exit_monitoring(Reader& reader, const Node& node, Source& source) {
    if (!reader.map(node, "exit_monitoring", true)) return;
    reader.only_keys(node, "exit_monitoring", {"poll_interval", "rules"});
    if (const Node* interval = node.find("poll_interval")) {
        source.definition.poll_interval = reader.integer(*interval, "poll_interval", 1, 3600).value_or(30);
    }
    const Node* rules = node.find("rules");
    if (rules == nullptr || !reader.sequence(*rules, "rules")) return;
    for (const auto& rule : rules->items) read_rule(reader, rule, source);
}

}  // namespace orange::workflow
