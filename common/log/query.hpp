#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/model/json.hpp"

/// Searches orange.log (docs/files.md) in its files. The daemon uses it for `log.tail`. `orange log` uses it directly,
/// because a log is needed most when no daemon runs.
namespace orange::log {

struct Query {
    std::size_t lines = 50;
    std::string level;  ///< debug, info, warn or error: this level or more severe; empty: all
    std::string component;
    std::string grep;  ///< literal text in the line's JSON or its values, ignoring case; empty: all
    std::optional<Timestamp> since;
    std::uint64_t most_read = UINT64_MAX;  ///< bytes after which the search stops
};

/// A line of the file, and its JSON; null if it is none, as after a crash in the middle of a line.
struct Line {
    std::string text;
    Json json;
};

/// Returns invalid_argument for an unknown level.
Result<void> check(const Query& query);

Line parse_line(std::string text);
bool matches(const Query& query, const Line& line);

struct Found {
    std::vector<Line> lines;  ///< oldest first
    bool more = false;        ///< the search stopped early: there may be older lines
};
/// Returns the last lines that match, from the rotated files (orange.1.log …) as far as needed. Without a log, no
/// lines.
Result<Found> search(const std::filesystem::path& log, const Query& query);

/// Returns the path of a rotated log: orange.log → orange.1.log.
std::filesystem::path rotated(const std::filesystem::path& log, int number);
inline constexpr int k_rotated_kept = 5;

/// Parses "90s", "10m", "3h", "2d" (before `now`) or an RFC 3339 time; nothing for another text.
std::optional<Timestamp> time_from(std::string_view text, Timestamp now);

}  // namespace orange::log
