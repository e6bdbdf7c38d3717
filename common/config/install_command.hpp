#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace orange {

/// Returns the shell command that installs `program` (tmux, git or a forge's) with this system's package manager.
/// Returns an empty string if no known package manager is installed. `root` is the file system that is searched for
/// them.
std::string install_command(std::string_view program, const std::filesystem::path& root = "/");

}  // namespace orange
