#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/process/unique_fd.hpp"

/// Files in folders that agents may write: looked at by a descriptor of the folder, never through a link, and never
/// waited for. Nothing here takes longer because an agent made more of them: what is larger than git makes it is
/// refused.
namespace orange::git {

inline constexpr std::size_t k_longest_pointer = 8192;
inline constexpr std::size_t k_most_entries = 50'000;  ///< of a folder, or of all below one
inline constexpr int k_most_levels = 64;               ///< of folders in folders

/// Resolves all links of a path, as git prints it. Returns the path itself if that fails.
std::string real_path(const std::filesystem::path& path);

/// To an open file; 0, or the errno.
int write_all(int file, std::string_view content);

/// The folder of that very name; io, also where a link or something else has the name.
Result<UniqueFd> open_folder(const std::string& path);
Result<UniqueFd> open_folder_at(int folder, const std::string& name, const std::string& shown);

/// The folder at the end of a path below that one, of whose folders none may be a link either.
Result<UniqueFd> open_folder_below(int folder, const std::string& relative, const std::string& shown);

/// And no link to one.
bool is_folder_at(int folder, const std::string& name);

/// A link like those that git makes: from where it is downwards, so that a folder with no others has all in it.
bool is_link_downwards(int folder, const std::string& name);

/// conflict where there are more than k_most_entries.
Result<std::vector<std::string>> names_in(int folder, const std::string& shown);

/// Calls `see(folder it is in, name, its st_mode)` for all that is below a folder, for a folder after what is in it, as
/// long as that succeeds. conflict, with a part seen, where there is more than k_most_entries or k_most_levels.
using See = std::function<Result<void>(int folder, const std::string& name, unsigned mode)>;
Result<void> see_all_below(int folder, const std::string& shown, const See& see);

/// A file, a link, or a folder with all that is in it; nothing where it is not there. What comes into its place
/// meanwhile is not looked into.
Result<void> remove_at(int folder, const std::string& name, const std::string& shown);
Result<void> remove_all_below(int folder, const std::string& shown);

/// To a new file in the same folder. not_found where there is none; io for a link, a pipe or a file above `limit`.
Result<void> copy_file_at(int folder, const std::string& from, const std::string& to, std::size_t limit,
                          const std::string& shown);

/// The text of a regular file of at most `limit` bytes; nothing for a link, a pipe, a larger file, or none at all.
std::optional<std::string> small_file_at(int folder, const std::string& name, std::size_t limit = k_longest_pointer);

/// Inode, mode, size and times of what is at a path; empty if there is nothing. No answer if it was changed so lately
/// that a further change might have the same time.
std::optional<std::string> settled_facts(const std::string& path);

/// Whole or not at all, under that very name: a link there gives way, and what it points to stays as it is.
Result<void> replace_file_at(int folder, const std::string& name, std::string_view content, const std::string& shown);

}  // namespace orange::git
