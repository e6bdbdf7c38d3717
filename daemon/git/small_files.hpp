#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/posix/dir.hpp"

/// Reads and writes files in folders that agents can write. Every function works from a descriptor of the folder,
/// follows no link and never blocks on a pipe. Limits keep an agent from slowing the daemon down with many or large
/// files: anything larger than git makes it is refused.
namespace orange::git {

inline constexpr std::size_t k_longest_pointer = 8192;
inline constexpr std::size_t k_most_entries = 50'000;  ///< in one folder, or in all folders below one
inline constexpr int k_most_levels = 64;               ///< of nested folders

/// Resolves all links of a path, as git prints it. Returns the path itself if that fails.
std::string real_path(const std::filesystem::path& path);

using posix::is_folder_at;
using posix::open_folder;
using posix::open_folder_at;
using posix::open_folder_below;

/// Returns true for a relative link that leads downwards, like those that git makes: the folder then contains all it
/// needs.
bool is_link_downwards(int folder, const std::string& name);

/// Lists a folder; conflict if it has more than k_most_entries.
Result<std::vector<std::string>> names_in(int folder, const std::string& shown);

/// Calls `see` for everything below a folder, for a folder after its contents, until `see` fails. Its arguments are the
/// folder that contains the entry, the entry's name and its st_mode. conflict, after a part was seen, if there are more
/// than k_most_entries entries or k_most_levels levels.
using See = std::function<Result<void>(int folder, const std::string& name, unsigned mode)>;
Result<void> see_all_below(int folder, const std::string& shown, const See& see);

/// Copies `from` in `folder` to the new file `to` in `into`. not_found if there is none; io for a link, a pipe or a
/// file above `limit`.
Result<void> copy_file_at(int folder, const std::string& from, int into, const std::string& to, std::size_t limit,
                          const std::string& shown);

/// The text of a regular file of at most `limit` bytes; nothing for a link, a pipe, a larger file, or none at all.
std::optional<std::string> small_file_at(int folder, const std::string& name, std::size_t limit = k_longest_pointer);

/// Returns true for a file that git reads as a symbolic ref. Git writes the ref that such a file names.
bool is_symbolic_ref(int folder, const std::string& name);

/// Returns inode, mode, size and times of what is at a path, to see later whether it has changed; empty if nothing is
/// there. No value if it was changed within the last two seconds, because a further change might leave the same time.
std::optional<std::string> settled_facts(const std::string& path);

/// Replaces a file atomically, under that very name. A link of that name is replaced, and its target stays as it is.
Result<void> replace_file_at(int folder, const std::string& name, std::string_view content, const std::string& shown);

}  // namespace orange::git
