#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.hpp"
#include "common/model/json.hpp"

/// Questions to orange.log (docs/files.md), answered from its files: by the daemon for `log.tail`, and by `orange log`
/// itself, since a log is needed most when no daemon runs.
namespace orange::log {

struct Query {
    std::size_t lines = 50;
    std::string level;  ///< debug, info, warn, error: this or more severe; empty: all
    std::string component;
    std::string grep;  ///< literal text anywhere in the line's JSON or its values, whatever its case; empty: all
    std::optional<Timestamp> since;
    std::uint64_t most_read = UINT64_MAX;  ///< bytes after which the search gives up
};

/// A line as it stands in the file, and as JSON; null where it is none (a crash in the middle of a line).
struct Line {
    std::string text;
    Json json;
};

/// An Error where the query makes no sense: an unknown level.
Result<void> check(const Query& query);

Line parse_line(std::string text);
bool matches(const Query& query, const Line& line);

struct Found {
    std::vector<Line> lines;  ///< oldest first
    bool more = false;        ///< it gave up early: there may be older ones
};
/// The last lines that match, through the rotated files (orange.1.log …) as far as needed. No log is no lines.
Result<Found> search(const std::filesystem::path& log, const Query& query);

/// orange.log → orange.1.log, as the daemon rotates it.
std::filesystem::path rotated(const std::filesystem::path& log, int number);
inline constexpr int k_rotated_kept = 5;

/// "90s", "10m", "3h", "2d" before `now`, or an RFC 3339 time; nothing where it is neither.
std::optional<Timestamp> time_from(std::string_view text, Timestamp now);

}  // namespace orange::log
