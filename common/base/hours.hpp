#pragma once

#include <optional>
#include <string_view>

#include "common/base/clock.hpp"

namespace orange {

/// A part of each day, in this machine's time zone. If it ends before it begins, it goes on after midnight.
struct Hours {
    int begin = 0;  ///< minutes after midnight
    int end = 0;    ///< the first minute that is no longer part of it; 1440: midnight
    bool operator==(const Hours&) const = default;
};

/// Reads "08:00-20:00" or "22:00-06:00"; returns nothing for another text, and if there is no time between the two.
std::optional<Hours> hours_in(std::string_view text);

/// Returns `time` if it is within the hours, else the next moment that is. On a day on which clocks change, the clock
/// on the wall counts. If the change leaves out all of the hours, the day has none.
Timestamp next_within(const Hours& hours, Timestamp time);

}  // namespace orange
