#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "daemon/engine/definition.hpp"

namespace orange::engine {

/// A level-2 section of TASK.md's body: the raw text below its heading.
struct Section {
    std::string text;

    bool operator==(const Section&) const = default;
};

/// The sections of a body by heading text ("Handoff"). store/sections parses them.
struct Artifacts {
    std::map<std::string, Section> sections;
    /// Headings that exist only inside an unclosed code fence, so that a rejection can say why they do not count.
    std::map<std::string, int> swallowed_by_fence;  ///< heading → line of the fence
    /// Headings whose section was written since the current state was entered, even if the words are the same.
    std::set<std::string> rewritten = {};
    /// The numbers of the comments that the worker has to answer, each with its last answer, which does not count
    /// again.
    std::map<std::int64_t, std::string> unanswered = {};
    std::string comments_unread = {};  ///< why the comments cannot be read: no gate on them holds

    /// Returns the hash of each section by its heading. It is saved when a state is entered.
    std::map<std::string, std::string> hashes() const;
};

/// True if the section has the words that it had when the current state was entered. `entry` is the result of hashes()
/// at that time.
bool is_unchanged(const Artifacts& artifacts, const std::map<std::string, std::string>& entry,
                  const std::string& heading);

/// Returns why `gate` does not hold for TASK.md, as a sentence that says what to write; nullopt if it holds. The facts
/// of the gate are not checked. `entry` is the result of hashes() when the current state was entered.
std::optional<std::string> gate_problem(const Gate& gate, const Artifacts& artifacts,
                                        const std::map<std::string, std::string>& entry);

/// Returns the first open question of a section's text in one line of at most 160 columns, without the mark of a list,
/// and a note if the section has more lines; empty if there is no question.
std::string first_question(std::string_view text);

/// Returns the verdict in a section's text. With `first`, it is the first non-empty line `Verdict: PASS|FAIL`; with
/// `any`, the first word PASS or FAIL of any line (case-insensitive).
std::optional<Verdict> verdict_of(std::string_view text, VerdictLine line);

/// Returns the first point of a review's text in one line of at most 100 columns: the first line that is not the
/// verdict, a heading or a comment, without the mark of a list; empty if there is none.
std::string first_point(std::string_view text);

}  // namespace orange::engine
