#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "daemon/process/unique_fd.hpp"

/// Files in folders that agents may write: looked at by a descriptor of the folder, never through a link, and never
/// waited for.
namespace orange::git {

inline constexpr std::size_t k_longest_pointer = 8192;

/// The folder of that very name; io, also where a link or something else has the name.
Result<UniqueFd> open_folder(const std::string& path);
Result<UniqueFd> open_folder_at(int folder, const std::string& name, const std::string& shown);

/// The text of a regular file of at most `limit` bytes; nothing for a link, a pipe, a larger file, or none at all.
std::optional<std::string> small_file_at(int folder, const std::string& name, std::size_t limit = k_longest_pointer);

/// Whole or not at all, under that very name: a link there gives way, and what it points to stays as it is.
Result<void> replace_file_at(int folder, const std::string& name, std::string_view content, const std::string& shown);

}  // namespace orange::git
