#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/comment.hpp"

/// The lines that a person names for a comment: `src/cart.py:12`, `src/cart.py:12-14`, `src/cart.py:-12` for a line of
/// the old text, `Plan:3` or `## Review:3` for a line of a section of TASK.md.
namespace orange::commands {

/// Lines of a file, or of a section of TASK.md.
struct LinePlace {
    std::string path;     ///< from the root of the repository; empty for a section
    std::string section;  ///< its heading; empty for a file
    DiffSide side = DiffSide::now;
    std::int64_t line = 0;
    std::int64_t end = 0;

    bool operator==(const LinePlace&) const = default;
};

/// Returns true if the word ends as a place does. Its numbers may still be wrong.
bool looks_like_place(std::string_view word);

/// Parses FILE:LINE[-LINE] from its last colon, since a path may have colons, too. invalid_argument says what is wrong
/// with it.
Result<LinePlace> place_in(std::string_view word);

/// Returns true if the first of these words of `orange comment` names a task: a word before a place does, and one that
/// is no place.
bool begins_with_task(const std::vector<std::string>& words);

}  // namespace orange::commands
