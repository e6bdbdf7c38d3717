#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

/// The daemon as a launch agent of macOS, `sh.orange.oranged`. The text is made and tested on all platforms, but has
/// never been loaded by launchd.
namespace orange::connection {

inline constexpr const char* k_launch_agent = "sh.orange.oranged";

/// Returns the shipped property list, with an `oranged` below /usr/local and the home /Users/YOU/orange.
std::string_view shipped_launch_agent();

/// Returns ~/Library/LaunchAgents/sh.orange.oranged.plist.
std::filesystem::path launch_agent_file();

/// Returns the shipped list with this oranged, home and PATH. Its first comment has a hash of the rest.
/// invalid_argument for a text that XML cannot contain.
Result<std::string> launch_agent_for(const std::filesystem::path& oranged, const Paths& paths,
                                     const std::string& search_path);
/// Returns true if `orange service install` wrote the text, and it has not changed since.
bool is_own_launch_agent(const std::string& text);
/// Returns true if the agent's daemon has this home.
bool is_launch_agent_of(const std::string& text, const Paths& paths);

}  // namespace orange::connection
