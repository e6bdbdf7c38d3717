#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The lines that `git diff --patch` prints, with the place of each line in its file. Any bytes are taken: a line that
/// is no part of a diff is a row of the kind `other`.
namespace orange {

/// A range of lines that differs, as "@@ -3,2 +3,4 @@" says it. If it has no lines on a side, the number there is that
/// of the line above.
struct PatchHunk {
    std::int64_t before = 0, before_count = 0;
    std::int64_t now = 0, now_count = 0;
};

struct PatchFile {
    std::string before;  ///< its path in the base; empty: the file is new
    std::string now;     ///< its path on the branch; empty: the file was removed
    bool is_binary = false;
    std::vector<PatchHunk> hunks;

    const std::string& path() const { return now.empty() ? before : now; }
};

struct PatchRow {
    enum class Kind { file, header, hunk, context, added, removed, other };
    Kind kind = Kind::other;
    std::size_t file = 0;     ///< index into Patch::files; meaningless before the first file
    std::int64_t before = 0;  ///< the line's number in the base; 0: it is not there
    std::int64_t now = 0;     ///< the line's number on the branch; 0: it is not there
    std::string_view text;    ///< the whole row without its "\n"; a "\r" stays

    bool is_line() const { return kind == Kind::context || kind == Kind::added || kind == Kind::removed; }
    /// The line of the file, without the mark before it.
    std::string_view line() const { return is_line() && !text.empty() ? text.substr(1) : std::string_view(); }
};

struct Patch {
    std::vector<PatchFile> files;
    std::vector<PatchRow> rows;  ///< one for each line of the text
};

/// Parses a patch in git's own format, with the prefixes a/ and b/. The rows point into `text`; with `only_files` there
/// are none.
Patch parse_patch(std::string_view text, bool only_files = false);

/// Returns the number that a line of the old file has in the new one; 0 if it was changed or removed.
std::int64_t line_after(const PatchFile& file, std::int64_t line);

}  // namespace orange
