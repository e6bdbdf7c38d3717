#pragma once

#include <string>

#include "common/base/clock.hpp"

namespace orange::output {

/// Returns an event's UTC time as "2026-11-20 11:49:03" in the reader's time zone; a text that is no time stays
/// unchanged.
std::string local_time(const std::string& stamp);
/// Returns only "11:49:03" of it.
std::string local_clock(const std::string& stamp);
/// Returns when the day of `time` began in the reader's time zone.
Timestamp start_of_day(Timestamp time);

}  // namespace orange::output
