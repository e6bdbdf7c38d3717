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

/// Returns the shipped unit, with an `oranged` below /usr/local.
std::string_view shipped_unit();
/// The beginning of the first line of a unit that `orange service install` wrote; the line ends with a hash of the
/// rest.
inline constexpr std::string_view k_own_unit = "# Written by `orange service install`.";
bool is_own_unit(const std::string& unit);
/// Returns true if Orange wrote the unit and it was changed since.
bool is_edited_unit(const std::string& unit);

/// Returns ~/.config/systemd/user/oranged.service, or the same below XDG_CONFIG_HOME.
std::filesystem::path unit_file();
/// Returns the link that `systemctl --user enable` makes.
std::filesystem::path enabled_link();

/// Returns the shipped unit with this oranged, home and PATH. invalid_argument for a path that a unit cannot contain.
Result<std::string> unit_for(const std::filesystem::path& oranged, const Paths& paths, const std::string& search_path);

/// Returns the home of the daemon in the enabled unit, or else in the existing one; nothing without a unit.
std::optional<std::filesystem::path> home_of_service();
/// Returns true if the unit is enabled and its daemon has this home.
bool is_service_of(const Paths& paths);

/// Runs `systemctl --user WORDS…`, and returns its exit status; 127 if there is no systemctl. `loud`: its output goes
/// to standard error.
int systemctl(std::vector<std::string> words, bool loud);

}  // namespace orange::connection
