#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/files/file_system.hpp"

/// Helpers for the text of a TASK.md and for its files.
namespace orange::store {

/// A longer TASK.md is not read: it is useless to its readers, and the daemon's loop would wait for it.
constexpr std::size_t k_largest_text = 1 << 20;
constexpr std::string_view k_kept_prefix = "TASK.kept-";
constexpr std::string_view k_found = "TASK.md.found";  ///< what stood in the place of a TASK.md and was none

/// Returns the body of a whole TASK.md (task_file.hpp).
std::string body_of(const std::string& text);

/// Returns true for a text of white space and zeros: an editor has created or truncated the file and not written it
/// yet, or a power failure left zeros.
bool is_blank(std::string_view text);

/// Returns true if every line of `text` is in `body`, too.
bool has_all_lines(const std::string& body, const std::string& text);

/// Returns true if a file that a process has open for writing may be half-written: its text has no frontmatter, misses
/// lines of the previous body, or ends within a line.
bool seems_cut(const std::string& text, const std::string& body_before);

/// Returns true for the name of a file with lines that went from TASK.md, also of one that an older version made.
bool is_kept_text(std::string_view name);

/// Returns the paths of such files in a task's folder, oldest first.
std::vector<std::string> kept_texts(FileSystem& files, const Path& folder);

/// Returns the body of a task's own TASK.md. An Error if it is no regular file of at most 1 MiB.
Result<std::string> read_body(FileSystem& files, const Path& task_file);

}  // namespace orange::store
