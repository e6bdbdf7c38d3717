#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

/// The daemon as a launch agent of macOS, `sh.orange.oranged`. Its text is made and tested everywhere; launchd has
/// never read it.
namespace orange::connection {

inline constexpr const char* k_launch_agent = "sh.orange.oranged";

/// The property list as Orange ships it, with the path of an `oranged` below /usr/local and the home /Users/YOU/orange.
std::string_view shipped_launch_agent();

/// ~/Library/LaunchAgents/sh.orange.oranged.plist.
std::filesystem::path launch_agent_file();

/// The shipped list for this oranged, this home and this PATH. Its first comment has a hash of the rest.
/// invalid_argument for a text that XML cannot hold.
Result<std::string> launch_agent_for(const std::filesystem::path& oranged, const Paths& paths,
                                     const std::string& search_path);
/// `orange service install` wrote it, and nobody has changed it since.
bool is_own_launch_agent(const std::string& text);
/// Its daemon has this home.
bool is_launch_agent_of(const std::string& text, const Paths& paths);

}  // namespace orange::connection
