#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "daemon/store/text.hpp"

/// The rule by which a save of one copy of TASK.md comes into the other one (docs/architecture.md, "The two TASK.md").
/// Pure.
namespace orange::store {

using LineSet = std::unordered_set<std::size_t>;

/// A save of a copy, and what is known of its author.
struct Save {
    TextPtr text;
    /// The text from which the author started; null: unknown, so that no line that is missing counts as removed.
    TextPtr base;
    TextPtr last;       ///< the last text that this side saved; null: none is known
    bool whole = true;  ///< it has a frontmatter: a section that is missing was removed
    std::function<bool(std::string_view heading)> owns;
    const LineSet* returned = nullptr;  ///< the lines that were merged back into this side's last save
    const LineSet* added = nullptr;     ///< the lines that this side has added: they are its own in every section
    std::size_t may_keep = 0;           ///< how many bytes may go out of both copies
};

/// The body that results from a save.
struct MergedSave {
    std::string body;
    std::vector<std::string> back;  ///< the headings of the sections of which lines were merged back
    std::vector<std::string> gone;  ///< the headings of the sections of which lines are in `kept` alone
    std::string kept;               ///< these sections as they were; empty: no line of another author went
    LineSet returned;               ///< the lines that were merged back
    LineSet added;                  ///< the lines of the save that were new
};

/// Merges a save into the current body, section by section, and line by line within a section that both changed.
///
/// No line of the current body goes unless the save removed it: silently if it stands in a section of the author's own
/// and the author has saved it before; otherwise it is merged back once, and the next time it goes to `kept`. A line of
/// the save that has no place, because its section was removed meanwhile, goes to `kept`, too.
MergedSave merge_save(const Text& current, const Save& save);

/// Returns those of `lines` that the text does not have.
LineSet missing_in(const Text& text, const LineSet& lines);

}  // namespace orange::store
