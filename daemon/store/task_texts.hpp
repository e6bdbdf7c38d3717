#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/process/process_runner.hpp"

/// Helpers of TaskSync for the texts of TASK.md and their files.
namespace orange::store {

/// The body of a whole TASK.md (task_file.hpp).
std::string body_of(const std::string& text);

/// True for a text of white space and zeros: an editor has created or truncated the file and has not written it yet, or
/// a loss of power left zeros.
bool is_blank(std::string_view text);

/// True if every line of `text` is also in `body`.
bool has_all_lines(const std::string& body, const std::string& text);

/// True if a file that a process has open for writing may be half-written: its text has no frontmatter, lacks lines of
/// the body before, or ends within a line.
bool seems_cut(const std::string& text, const std::string& body_before);

/// Reads a copy of TASK.md. Nothing if there is no such file. Nothing either for a link: an agent may point it at a
/// file that its sandbox keeps from it, and the daemon would copy that file to where the agent can read it.
/// invalid_argument, with a way out, if the file has more than 8 MiB.
Result<std::optional<std::string>> read_copy(FileSystem& files, const Path& path);
/// The same for a file whose facts are known.
Result<std::optional<std::string>> read_copy(FileSystem& files, const Path& path, const FileFacts& facts);

/// Brings the changes from `base` to `current` and from `base` to `other` together (`git merge-file`). Nothing if they
/// contradict each other. An Error if the disk or git fails. Temporary files are made in `folder` and removed.
Awaitable<Result<std::optional<std::string>>> merge_bodies(FileSystem& files, ProcessRunner& processes, Path folder,
                                                           std::string current, std::string base, std::string other);

}  // namespace orange::store
