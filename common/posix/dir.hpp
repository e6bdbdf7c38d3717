#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/posix/fd.hpp"

/// Opening folders by descriptor, so that nobody can put a link in the place of one that was looked at.
namespace orange::posix {

/// Opens the folder of that very name; io if there is none, or if a link or a file has the name. `shown` is its path,
/// for the message.
Result<UniqueFd> open_folder_at(int folder, const std::string& name, const std::string& shown);
Result<UniqueFd> open_folder(const std::string& path);

/// Opens the folder at the end of a relative path; io if a folder on the way is a link.
Result<UniqueFd> open_folder_below(int folder, const std::string& relative, const std::string& shown);

/// Returns true for a folder; false for a link to one.
bool is_folder_at(int folder, const std::string& name);

}  // namespace orange::posix
