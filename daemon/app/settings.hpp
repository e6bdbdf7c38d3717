#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// config.yml (docs/files.md). Keys: poll_interval (seconds), exit_notification, notify (argv, or off), env (map),
/// message_patience (seconds), log_level, detach_key, pr_interval, port_base, umask, auto_restart, resume_after_reboot,
/// and the settings of projects. Unknown keys and wrong types are refused with line and column.
Result<Settings> parse_settings(std::string_view text, std::string_view file_name);
/// All keys that it may have.
std::vector<std::string> config_keys();
/// The same of a file; nothing where there is none.
Result<std::optional<Settings>> load_settings(FileSystem& files, const Path& file);

/// The same of config.yml. A copy of it is kept for first_settings(); what keeps it from being written is logged.
Result<std::optional<Settings>> take_settings(FileSystem& files, const Paths& paths);

/// The settings that a daemon starts with. If config.yml cannot be used, these are the settings of its last good copy,
/// or the defaults if there is none, and `problem` says so with the line.
struct FirstSettings {
    Settings settings;
    std::string problem;
};
FirstSettings first_settings(FileSystem& files, const Paths& paths);

}  // namespace orange
