#include "daemon/workflow/reader.hpp"

#include <algorithm>

#include "common/base/suggest.hpp"
#include "common/base/text.hpp"

namespace orange::workflow {
namespace {

std::string kind_of(const Node& node) {
    switch (node.kind) {
        case Node::Kind::null:
            return "is empty";
        case Node::Kind::scalar:
            return "is \"" + ellipsized(printable(node.scalar), 40) + "\"";
        case Node::Kind::sequence:
            return "is a list";
        case Node::Kind::map:
            return "is a map";
    }
    return {};
}

std::optional<std::int64_t> integer_of(const Node& node) {
    return node.is_scalar() && !node.quoted ? whole_number(node.scalar) : std::nullopt;
}

}  // namespace

bool Reader::few(std::size_t entries, const Node& node, const std::string& what) {
    constexpr std::size_t k_most_entries = 100;
    if (entries <= k_most_entries) return true;
    problem(node.place, what + " has " + std::to_string(entries) + " entries; the limit is 100");
    return false;
}

bool Reader::map(const Node& node, const std::string& what, bool may_be_empty) {
    if (node.is_map()) return few(node.members.size(), node, what);
    if (may_be_empty && node.is_null()) return true;
    problem(node.place, what + " must be a map of keys and values, but " + kind_of(node));
    return false;
}

bool Reader::sequence(const Node& node, const std::string& what) {
    if (node.is_sequence()) return few(node.items.size(), node, what);
    problem(node.place, what + " must be a list, but " + kind_of(node));
    return false;
}

void Reader::only_keys(const Node& map, const std::string& what, const std::vector<std::string>& known) {
    for (std::size_t i = 0; i < map.members.size(); ++i) {
        const auto& key = map.members[i].first;
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        if (is_full()) break;
        problem(map.member_places[i], "unknown key \"" + printable(key) + "\" in " + what + suggestion(key, known));
    }
}

const Node* Reader::required(const Node& map, const std::string& key, const std::string& what) {
    const Node* found = map.find(key);
    if (found == nullptr) problem(map.place, what + " needs the key \"" + key + "\"");
    return found;
}

std::optional<std::string> Reader::text(const Node& node, const std::string& what) {
    if (node.is_scalar() && !trim(node.scalar).empty()) return node.scalar;
    problem(node.place, what + " must be a text, but " + (node.is_scalar() ? "is empty" : kind_of(node)));
    return std::nullopt;
}

std::optional<bool> Reader::boolean(const Node& node, const std::string& what) {
    if (node.is_scalar() && !node.quoted && (node.scalar == "true" || node.scalar == "false"))
        return node.scalar == "true";
    problem(node.place, what + " must be true or false, but " + kind_of(node));
    return std::nullopt;
}

std::optional<std::int64_t> Reader::integer(const Node& node, const std::string& what, std::int64_t least,
                                            std::int64_t most) {
    const auto value = integer_of(node);
    if (value && *value >= least && *value <= most) return value;
    const bool bounded = most != INT64_MAX || least != INT64_MIN;
    const std::string range = most == INT64_MAX ? " of at least " + std::to_string(least)
                                                : " from " + std::to_string(least) + " to " + std::to_string(most);
    problem(node.place,
            what + " must be a whole number" + (bounded ? range : std::string{}) + ", but " + kind_of(node));
    return std::nullopt;
}

std::optional<std::string> Reader::choice(const Node& node, const std::string& what,
                                          const std::vector<std::string>& choices) {
    if (node.is_scalar() && std::find(choices.begin(), choices.end(), node.scalar) != choices.end()) return node.scalar;
    const auto hint = node.is_scalar() ? suggestion(node.scalar, choices) : std::string{};
    problem(node.place, what + " must be one of " + join(choices, ", ") + ", but " + kind_of(node) +
                            (hint.starts_with("; did") ? hint : std::string{}));
    return std::nullopt;
}

namespace {

constexpr const char* k_of_section[] = {"section",      "required", "fields",  "verdict",
                                        "verdict_line", "fresh",    "comments"};
constexpr const char* k_of_branch[] = {"commits", "clean", "checks", "merges", "reviewed_head", "children", "attempts"};

}  // namespace

std::optional<engine::Condition> Reader::condition(const Node& node, Source& source) {
    const auto written = text(node, "when");
    if (!written) return std::nullopt;
    auto condition = parse_condition(*written);
    if (!condition) {
        problem(node.place, condition.error().message);
        return std::nullopt;
    }
    source.compared.push_back({condition->field, node.place});
    return *condition;
}

std::optional<engine::Gate> Reader::gate(const Node& node, const std::string& what, TransitionSource* places) {
    if (!map(node, what)) return std::nullopt;
    const auto before = count();
    only_keys(node, what,
              {"section", "required", "fields", "verdict", "verdict_line", "fresh", "comments", "commits", "clean",
               "checks", "merges", "reviewed_head", "children", "attempts"});
    engine::Gate gate;
    read_facts(node, gate, places);
    const bool needs_section =
        !(gate.facts.any() || gate.children || gate.attempts) ||
        std::ranges::any_of(k_of_section, [&](const char* key) { return node.find(key) != nullptr; });
    if (needs_section && count() == before) read_section(node, gate);
    if (count() != before) return std::nullopt;
    return gate;
}

void Reader::read_section(const Node& node, engine::Gate& gate) {
    if (const Node* section = required(node, "section", "a gate on TASK.md")) {
        const auto heading = text(*section, "section");
        if (heading && heading->starts_with("## ") && !trim(heading->substr(3)).empty()) {
            gate.section = std::string(trim(heading->substr(3)));
        } else if (heading) {
            problem(section->place,
                    "section must be a level-2 heading, as \"## " +
                        printable(trim(heading->substr(std::min(heading->size(), heading->find_first_not_of("# "))))) +
                        "\", but " + kind_of(*section));
        }
    }
    if (const Node* needed = node.find("required")) gate.required = boolean(*needed, "required").value_or(true);
    if (const Node* fresh = node.find("fresh")) gate.fresh = boolean(*fresh, "fresh").value_or(false);
    if (const Node* answers = node.find("comments")) gate.comments = boolean(*answers, "comments").value_or(false);
    if (const Node* fields = node.find("fields")) read_fields(*fields, gate);
    read_verdict(node, gate);
}

void Reader::read_facts(const Node& map, engine::Gate& gate, TransitionSource* places) {
    auto& facts = gate.facts;
    for (const char* key : k_of_branch) {
        const Node* node = map.find(key);
        if (node == nullptr) continue;
        const std::string name = key;
        if (places == nullptr) {
            problem(node->place, name +
                                     " belongs in the gate of a transition: an exit rule looks only at TASK.md, and "
                                     "then takes the transition with its gate");
            continue;
        }
        if (name == "children") {
            gate.children = boolean(*node, name).value_or(true);
            continue;
        }
        if (name == "attempts") {
            gate.attempts = boolean(*node, name).value_or(true);
            continue;
        }
        if (!places->facts) places->facts = node->place;
        if (name == "commits") facts.commits = integer(*node, name, 1, 1000).value_or(1);
        if (name == "clean") facts.clean = boolean(*node, name).value_or(true);
        if (name == "merges") facts.merges = boolean(*node, name).value_or(true);
        if (name == "checks") read_checks(*node, facts);
        if (name != "reviewed_head") continue;
        facts.reviewed_head = boolean(*node, name).value_or(true);
        if (facts.reviewed_head) places->reviewed_head = node->place;
    }
}

void Reader::read_checks(const Node& checks, engine::GateFacts& facts) {
    if (!checks.is_sequence()) {
        facts.checks = boolean(checks, "checks").value_or(true);
        return;
    }
    if (!sequence(checks, "checks")) return;
    facts.checks = true;
    if (checks.items.empty()) problem(checks.place, "checks must hold at least one command, as [[make, test]]");
    for (const auto& item : checks.items) facts.argvs.push_back(argv(item, "a check"));
}

std::vector<std::string> Reader::argv(const Node& node, const std::string& what) {
    std::vector<std::string> words;
    if (!sequence(node, what)) return words;
    if (node.items.empty()) problem(node.place, what + " needs at least the program");
    for (const auto& item : node.items) {
        if (item.is_scalar()) {
            words.push_back(item.scalar);
        } else {
            text(item, "an argument");
        }
    }
    if (!words.empty() && words.front().empty()) problem(node.items[0].place, "the program is empty");
    return words;
}

void Reader::read_fields(const Node& fields, engine::Gate& gate) {
    if (!sequence(fields, "fields")) return;
    if (fields.items.empty()) problem(fields.place, "fields must name at least one field, as [DONE, REMAINING]");
    for (const auto& item : fields.items) {
        const auto name = text(item, "a field");
        if (!name) continue;
        if (name->find_first_of(":\n") != std::string::npos || trim(*name) != *name) {
            problem(item.place, "a field is a name without its colon, as DONE, but " + kind_of(item));
        }
        gate.fields.push_back(*name);
    }
}

void Reader::read_verdict(const Node& map, engine::Gate& gate) {
    const Node* verdict = map.find("verdict");
    const Node* line = map.find("verdict_line");
    if (verdict != nullptr) {
        if (const auto name = choice(*verdict, "verdict", {"PASS", "FAIL"})) {
            gate.verdict = *name == "PASS" ? engine::Verdict::pass : engine::Verdict::fail;
        }
    } else if (line != nullptr) {
        problem(line->place, "verdict_line means something only beside a verdict");
    }
    if (line == nullptr) return;
    if (choice(*line, "verdict_line", {"first", "any"}) == "first") gate.verdict_line = engine::VerdictLine::first;
}

}  // namespace orange::workflow
