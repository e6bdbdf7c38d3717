#pragma once

#include <string>

#include "common/base/clock.hpp"

namespace orange::output {

/// "2026-11-20 11:49:03" in the reader's time zone, of an event's time in UTC; what is no time stays as it is.
std::string local_time(const std::string& stamp);
/// "11:49:03" of it.
std::string local_clock(const std::string& stamp);
/// Returns when the day of `time` began in the reader's time zone.
Timestamp start_of_day(Timestamp time);

}  // namespace orange::output
