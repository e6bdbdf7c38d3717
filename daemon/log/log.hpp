#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

/// The daemon's log, orange.log: one JSON object a line with ts, level, component, msg and further fields. All parts of
/// the daemon write to it. Logging never blocks and never fails its caller; lines that cannot be written are counted.
/// Secrets are never logged: no environment, no spec.
namespace orange::log {

enum class Level { debug, info, warn, error };

using Fields = std::map<std::string, std::string>;

/// Returns the level called debug, info, warn or error; nothing for another name.
std::optional<Level> level_from(std::string_view name);

/// Omits less severe lines from now on.
void set_level(Level least);

/// Writes lines to this file from now on; before that they go to stderr. The file is rotated at 10 MB, and five are
/// kept. Lines that cannot be written are dropped and counted: a line on stderr reports it when it begins, and a line
/// in the file when writing works again.
void open(const std::string& path, Level least);

/// Returns why lines are being dropped, and how many; nothing if lines are written.
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
