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

/// Opens the file, rotated at 10 MB, five kept. Until then, and where it cannot be opened, lines go to stderr.
void open(const std::string& path, Level least);

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
