#pragma once

#include <optional>
#include <string_view>

#include "common/base/clock.hpp"

namespace orange {

/// A part of each day, in this machine's time zone. If `end` is before `begin`, it continues after midnight.
struct Hours {
    int begin = 0;  ///< minutes after midnight
    int end = 0;    ///< minutes after midnight, exclusive; 1440: midnight
    bool operator==(const Hours&) const = default;
};

/// Parses "08:00-20:00" or "22:00-06:00"; nothing for another text, or if both times are equal.
std::optional<Hours> hours_in(std::string_view text);

/// Returns `time` if it is within the hours, otherwise the next moment within them. Local time counts, also on days on
/// which clocks change. If such a change skips the hours completely, that day has none.
Timestamp next_within(const Hours& hours, Timestamp time);

}  // namespace orange
