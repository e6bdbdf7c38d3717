#pragma once

#include <string>
#include <string_view>

#include "daemon/files/file_system.hpp"

/// Temporary names for writing files: `.<name>.<random>.tmp` (earlier versions removed folders under such names). The
/// daemon's only thread uses each within one call, so a file that has such a name when the daemon starts was left by a
/// killed daemon.
namespace orange::files {

std::string unfinished_name(std::string_view name);
bool is_unfinished(std::string_view name);

/// Removes all such files and folders in a folder. Success if there is no such folder.
Result<void> remove_unfinished(FileSystem& files, const Path& folder);

}  // namespace orange::files
