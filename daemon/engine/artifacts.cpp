#include "daemon/engine/artifacts.hpp"

#include <algorithm>

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "daemon/engine/comments.hpp"
#include "daemon/engine/edges.hpp"

namespace orange::engine {
namespace {

constexpr std::string_view k_label = "verdict:";

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Returns a text such as "DONE: …, REMAINING: … or UNCERTAIN: …".
std::string fields_text(const std::vector<std::string>& fields) {
    std::vector<std::string> texts;
    for (const auto& field : fields) texts.push_back(field + ": …");
    return listed(std::move(texts), " or ");
}

struct Item {
    std::string_view text;
    bool listed = false;
    bool ticked = false;
};

/// Returns the line without "- ", "* ", "> ", "1. " or "1) ", and without the box of a checklist.
Item item_of(std::string_view line) {
    auto mark = std::min(line.find_first_not_of("0123456789"), line.size());
    const bool is_number = mark > 0 && mark < line.size() && (line[mark] == '.' || line[mark] == ')');
    const bool is_sign = mark == 0 && !line.empty() && (line[0] == '-' || line[0] == '*' || line[0] == '>');
    if (!is_number && !is_sign) return {line};
    ++mark;
    if (mark >= line.size() || line[mark] != ' ') return {line};
    line = trim(line.substr(mark));
    for (const std::string_view box : {"[ ] ", "[x] ", "[X] "}) {
        if (line.starts_with(box)) return {trim(line.substr(box.size())), true, box != "[ ] "};
    }
    return {line, true};
}

/// Returns the contents that the section must have; the text follows "with ".
std::string wanted(const Gate& gate) {
    std::string text;
    if (gate.verdict) {
        const std::string verdict(name_of(*gate.verdict));
        text = gate.verdict_line == VerdictLine::first ? "the first line \"Verdict: " + verdict + "\""
                                                       : "a line that holds the word " + verdict;
    }
    if (!gate.fields.empty()) {
        text += (text.empty() ? "" : " and ") + std::string("at least one line ") + fields_text(gate.fields);
    }
    if (text.empty()) text = "at least one line of text";
    return text;
}

std::string missing(const Gate& gate, const Artifacts& artifacts) {
    const std::string heading = "\"## " + gate.section + "\"";
    std::string text = "## " + gate.section + " is missing; ";
    const auto swallowed = artifacts.swallowed_by_fence.find(gate.section);
    if (swallowed != artifacts.swallowed_by_fence.end()) {
        return text + "the heading is there, but inside the code fence that opens at line " +
               std::to_string(swallowed->second) + " of the body and is never closed; close that fence, so that " +
               heading + " stands outside of it with " + wanted(gate);
    }
    for (const auto& [name, section] : artifacts.sections) {
        if (!equal_ignoring_case(name, gate.section)) continue;
        return text + "the heading \"## " + printable(name) + "\" must read exactly " + heading;
    }
    if (!gate.required && gate.fields.empty() && !gate.verdict)
        return text + "add the heading " + heading + " to TASK.md";
    return text + "add a section " + heading + " to TASK.md with " + wanted(gate);
}

bool has_field(std::string_view line, std::string_view field) {
    return line.starts_with(field) && line.substr(field.size()).starts_with(':') &&
           !trim(line.substr(field.size() + 1)).empty();
}

/// Quotes a line that names a field, but not as `NAME: text` at its beginning; empty if there is none.
std::string near_miss(const Gate& gate, std::string_view text) {
    for (const auto line : split_lines(text)) {
        for (const auto& field : gate.fields) {
            const auto at = line.find(field);
            if (at == std::string_view::npos ||
                line.substr(0, at).find_first_not_of(" \t-*+_#>`") != std::string_view::npos)
                continue;
            return "; the line \"" + ellipsized(printable(line), 60) + "\" does not count: " + field +
                   ": must begin its line, with text after the colon on the same line";
        }
    }
    return {};
}

std::optional<std::string> field_problem(const Gate& gate, std::string_view text) {
    if (gate.fields.empty()) return std::nullopt;
    for (const auto line : split_lines(text)) {
        for (const auto& field : gate.fields) {
            if (has_field(line, field)) return std::nullopt;
        }
    }
    return "## " + gate.section + " has no field: add at least one line " + fields_text(gate.fields) + " to it" +
           near_miss(gate, text);
}

std::optional<std::string> verdict_problem(const Gate& gate, std::string_view text) {
    if (!gate.verdict) return std::nullopt;
    const auto verdict = verdict_of(text, gate.verdict_line);
    if (verdict == gate.verdict) return std::nullopt;
    const std::string expected(name_of(*gate.verdict));
    if (verdict) {
        return "## " + gate.section + " says " + name_text(*verdict) + ", and this transition is for " + expected +
               ": ask for the status that fits the verdict, or change the verdict";
    }
    if (gate.verdict_line == VerdictLine::first) {
        return "## " + gate.section +
               " has no verdict: its first line must be \"Verdict: PASS\" or \"Verdict: FAIL\" (for "
               "this transition " +
               expected + ")";
    }
    return "## " + gate.section + " has no verdict: add a line that holds the word " + expected;
}

std::optional<Verdict> verdict_word(std::string_view word) {
    if (equal_ignoring_case(word, "PASS")) return Verdict::pass;
    if (equal_ignoring_case(word, "FAIL")) return Verdict::fail;
    return std::nullopt;
}

/// Returns the first whole word PASS or FAIL of a line, as /\b(PASS|FAIL)\b/i finds it.
std::optional<Verdict> first_verdict_word(std::string_view line) {
    std::size_t at = 0;
    while (at < line.size()) {
        std::size_t end = at;
        while (end < line.size() && is_word(line[end])) ++end;
        if (const auto verdict = verdict_word(line.substr(at, end - at))) return verdict;
        at = end == at ? at + 1 : end;
    }
    return std::nullopt;
}

}  // namespace

std::map<std::string, std::string> Artifacts::hashes() const {
    std::map<std::string, std::string> result;
    for (const auto& [heading, section] : sections) result.emplace(heading, sha256(section.text));
    return result;
}

std::string first_question(std::string_view text) {
    constexpr std::size_t k_columns = 160;
    std::vector<Item> items;
    std::size_t lines = 0;
    for (const auto each : split_lines(text)) {
        const auto line = trim(each);
        if (line.empty() || line.starts_with("<!--")) continue;
        ++lines;
        const auto item = item_of(line);
        if (item.listed || items.empty()) items.push_back(item);  // any other line belongs to the item above
    }
    if (items.empty()) return {};
    const auto open = std::find_if(items.begin(), items.end(), [](const Item& item) { return !item.ticked; });
    const auto& shown = open == items.end() ? items.front() : *open;
    return ellipsized(printable(shown.text), k_columns) + (lines > 1 ? " (more in TASK.md)" : "");
}

std::string first_point(std::string_view text) {
    constexpr std::size_t k_columns = 100;
    for (const auto each : split_lines(text)) {
        const auto line = trim(each);
        if (line.empty() || line.starts_with("<!--") || line.starts_with('#')) continue;
        if (equal_ignoring_case(line.substr(0, k_label.size()), k_label)) continue;
        return ellipsized(printable(item_of(line).text), k_columns);
    }
    return {};
}

std::optional<Verdict> verdict_of(std::string_view text, VerdictLine line) {
    for (const auto raw : split_lines(text)) {
        if (line == VerdictLine::any) {
            if (const auto verdict = first_verdict_word(raw)) return verdict;
            continue;
        }
        const auto first = trim(raw);
        if (first.empty()) continue;
        if (!equal_ignoring_case(first.substr(0, k_label.size()), k_label)) return std::nullopt;
        return verdict_word(trim(first.substr(k_label.size())));
    }
    return std::nullopt;
}

bool is_unchanged(const Artifacts& artifacts, const std::map<std::string, std::string>& entry,
                  const std::string& heading) {
    const auto before = entry.find(heading);
    const auto now = artifacts.sections.find(heading);
    return before != entry.end() && now != artifacts.sections.end() &&
           orange::is_hash_of(before->second, now->second.text);
}

std::optional<std::string> gate_problem(const Gate& gate, const Artifacts& artifacts,
                                        const std::map<std::string, std::string>& entry) {
    if (gate.section.empty()) return std::nullopt;
    const auto found = artifacts.sections.find(gate.section);
    if (found == artifacts.sections.end()) return missing(gate, artifacts);
    const Section& section = found->second;
    if (gate.required && trim(section.text).empty()) {
        return "## " + gate.section + " is empty. Write " + wanted(gate) + " under that heading in TASK.md";
    }
    // Stale sections come first: the verdict of an old round must not be quoted like a new one.
    if (is_unchanged(artifacts, entry, gate.section) && gate.fresh && !artifacts.rewritten.contains(gate.section)) {
        return "## " + gate.section +
               " has not changed since the task entered this status. Update it in TASK.md with " + wanted(gate) +
               ". If it says the same as before, add a line that names the commit";
    }
    if (auto problem = verdict_problem(gate, section.text)) return problem;
    if (auto problem = field_problem(gate, section.text)) return problem;
    if (!gate.comments) return std::nullopt;
    if (!artifacts.comments_unread.empty()) return artifacts.comments_unread;
    auto problem = answer_problem(gate.section, section.text, artifacts.unanswered);
    if (problem.empty()) return std::nullopt;
    return problem;
}

}  // namespace orange::engine
