#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/config/paths.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Parses config.yml (docs/files.md). Its keys are in config_keys(). Unknown keys and wrong types are errors with line
/// and column.
Result<Settings> parse_settings(std::string_view text, std::string_view file_name);
/// Returns all keys that config.yml may have.
std::vector<std::string> config_keys();
/// Reads and parses a file; nullopt if it does not exist.
Result<std::optional<Settings>> load_settings(FileSystem& files, const Path& file);

/// Reads and parses config.yml, and keeps a copy of it for first_settings(). A failure to write the copy is only
/// logged.
Result<std::optional<Settings>> take_settings(FileSystem& files, const Paths& paths);

/// The settings that a daemon starts with. If config.yml cannot be used, these are the settings of its last good copy,
/// or the defaults if there is none, and `problem` says so with the line.
struct FirstSettings {
    Settings settings;
    std::string problem;
};
FirstSettings first_settings(FileSystem& files, const Paths& paths);

}  // namespace orange
