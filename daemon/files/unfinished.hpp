#pragma once

#include <string>
#include <string_view>

#include "daemon/files/file_system.hpp"

/// Temporary names for writing files and removing folders: `.<name>.<random>.tmp`. The daemon's only thread uses each
/// within one call, so a file that has such a name when the daemon starts was left by a killed daemon.
namespace orange::files {

std::string unfinished_name(std::string_view name);
bool is_unfinished(std::string_view name);

/// Removes all such files and folders in a folder. Success if there is no such folder.
Result<void> remove_unfinished(FileSystem& files, const Path& folder);

}  // namespace orange::files
