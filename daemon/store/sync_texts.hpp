#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/files/file_system.hpp"

/// What the parts of TaskSync share about texts and their files.
namespace orange::store {

/// How long a call waits in all for writers that are at it, and between two looks.
inline constexpr std::chrono::milliseconds k_patience{250};
inline constexpr std::chrono::milliseconds k_step{5};

/// More is no text that somebody reads; it would be held in memory several times.
inline constexpr std::size_t k_largest_text = 8 << 20;

/// Where a copy that was exchanged away waits beside `path` until nobody writes to it any more.
inline constexpr std::string_view k_displaced = ".TASK.md.orange-";
Path displaced_name(const Path& path);

std::string body_of(const std::string& text);
bool is_blank(std::string_view text);

/// Whether a file that somebody has open may be one that he truncated and has not written to its end: it has no
/// frontmatter, lacks lines of the body that was there before, or ends in the middle of one.
bool seems_cut(const std::string& text, const std::string& body_before);

/// Content of a file of ours; nothing where it is gone. Nothing of a link either: an agent may make one to what its
/// sandbox keeps from it, and the daemon would copy that to where it can read. invalid_argument, with the file and what
/// to do, where it is too large.
Result<std::optional<std::string>> read_any(FileSystem& files, const Path& path);

}  // namespace orange::store
