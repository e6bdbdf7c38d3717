#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/process/process_runner.hpp"

/// Helpers of TaskSync for the text of a TASK.md and for its files.
namespace orange::store {

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

/// Reads a copy of TASK.md. Nothing if there is no such file, or if it is a link: an agent could point the link at a
/// file that its sandbox hides, and the daemon would copy that file to a place where the agent can read it.
/// invalid_argument, with the way out, if the file has more than 8 MiB.
Result<std::optional<std::string>> read_copy(FileSystem& files, const Path& path);
/// Reads a copy as above, with facts that are known already.
Result<std::optional<std::string>> read_copy(FileSystem& files, const Path& path, const FileFacts& facts);

/// Merges the changes from `base` to `current` and from `base` to `other` (`git merge-file`). Nothing if they
/// contradict each other. An Error if the disk or git fails. Temporary files are made in `folder` and removed.
Awaitable<Result<std::optional<std::string>>> merge_bodies(FileSystem& files, ProcessRunner& processes, Path folder,
                                                           std::string current, std::string base, std::string other);

}  // namespace orange::store
