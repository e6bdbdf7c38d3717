#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "daemon/engine/definition.hpp"

namespace orange::engine {

/// One level-2 section of TASK.md's body: its raw text below the heading, and a hash that tells versions apart.
struct Section {
    std::string text;
    std::string hash;

    bool operator==(const Section&) const = default;
};

/// What the engine sees of a body: its sections by heading text ("Handoff"). Parsed by store/sections.
struct Artifacts {
    std::map<std::string, Section> sections;
    /// Headings that exist only inside an unclosed code fence, so that a rejection can say why they do not count.
    std::map<std::string, int> swallowed_by_fence;  ///< heading → line of the fence
    /// Headings whose section was written since the current state was entered, perhaps in the very same words.
    std::set<std::string> rewritten = {};

    /// heading → hash, as kept on entering a state.
    std::map<std::string, std::string> hashes() const;
};

/// True if the section has the words that it had when the current state was entered. `entry` is what hashes() was then.
bool is_unchanged(const Artifacts& artifacts, const std::map<std::string, std::string>& entry,
                  const std::string& heading);

/// Why `gate` does not hold of TASK.md, as a sentence that says what to write, or nothing where it holds; its facts are
/// another matter. `entry` is what hashes() was when the current state was entered.
std::optional<std::string> gate_problem(const Gate& gate, const Artifacts& artifacts,
                                        const std::map<std::string, std::string>& entry);

/// The first question of a section's text in one line of at most 160 columns, without the mark of a list, and whether
/// there is more; empty where there is none.
std::string first_question(std::string_view text);

/// The verdict of a section's text, after `line`: the first non-empty line `Verdict: PASS|FAIL`, or the first line
/// with the word PASS or FAIL (case-insensitive).
std::optional<Verdict> verdict_of(std::string_view text, VerdictLine line);

}  // namespace orange::engine
