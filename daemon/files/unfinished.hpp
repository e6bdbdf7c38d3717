#pragma once

#include <string>
#include <string_view>

#include "daemon/files/file_system.hpp"

/// The temporary names below which files are written and folders are removed: `.<name>.<random>.tmp`. Each is in use
/// within one call of the daemon's only thread, so that one which is found belongs to a daemon that was killed.
namespace orange::files {

std::string unfinished_name(std::string_view name);
bool is_unfinished(std::string_view name);

/// Removes those in a folder. Success if there is no such folder.
Result<void> remove_unfinished(FileSystem& files, const Path& folder);

}  // namespace orange::files
