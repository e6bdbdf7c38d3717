#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

/// The daemon's log, orange.log: one JSON object a line (ts, level, component, msg, and the fields given). Logging
/// never blocks or fails what it is about. Secrets never go in: no environment, no spec.
namespace orange::log {

enum class Level { debug, info, warn, error };

using Fields = std::map<std::string, std::string>;

/// debug, info, warn, error.
std::optional<Level> level_from(std::string_view name);

/// Less severe lines are left out from now on.
void set_level(Level least);

/// The file from now on, rotated at 10 MB, five kept; until then lines go to stderr. Where it cannot be written, lines
/// are left out and counted: one line on stderr says so, and one in the file when there is room again.
void open(const std::string& path, Level least);

/// Why lines are missing at the moment, and how many; nothing where they are written.
std::optional<std::string> problem();

void write(Level level, std::string_view component, std::string_view message, const Fields& fields = {});

inline void debug(std::string_view component, std::string_view message, const Fields& fields = {}) {
    write(Level::debug, component, message, fields);
}
inline void info(std::string_view component, std::string_view message, const Fields& fields = {}) {
    write(Level::info, component, message, fields);
}
inline void warn(std::string_view component, std::string_view message, const Fields& fields = {}) {
    write(Level::warn, component, message, fields);
}
inline void error(std::string_view component, std::string_view message, const Fields& fields = {}) {
    write(Level::error, component, message, fields);
}

}  // namespace orange::log
