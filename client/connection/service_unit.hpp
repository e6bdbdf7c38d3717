#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"

/// The daemon as a service of the user's systemd, `oranged.service`.
namespace orange::connection {

/// The unit as Orange ships it, with the path of an `oranged` below /usr/local.
std::string_view shipped_unit();
/// The first line of a unit that `orange service install` wrote begins with this, and ends with a hash of the rest.
inline constexpr std::string_view k_own_unit = "# Written by `orange service install`.";
bool is_own_unit(const std::string& unit);
/// And somebody has changed it since.
bool is_edited_unit(const std::string& unit);

/// ~/.config/systemd/user/oranged.service, or below XDG_CONFIG_HOME.
std::filesystem::path unit_file();
/// The link that `systemctl --user enable` makes.
std::filesystem::path enabled_link();

/// The shipped unit for this oranged, this home and this PATH. invalid_argument for a path that a unit cannot hold.
Result<std::string> unit_for(const std::filesystem::path& oranged, const Paths& paths, const std::string& search_path);

/// Of the daemon that the enabled unit starts, or else the one that is there; nothing without a unit.
std::optional<std::filesystem::path> home_of_service();
/// The unit is enabled, and its daemon has this home.
bool is_service_of(const Paths& paths);

/// `systemctl --user WORDS…`: its exit status; 127 if there is none. What it says goes to standard error if `loud`.
int systemctl(std::vector<std::string> words, bool loud);

}  // namespace orange::connection
