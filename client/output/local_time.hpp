#pragma once

#include <string>

namespace orange::output {

/// "2026-11-20 11:49:03" in the reader's time zone, of an event's time in UTC; what is no time stays as it is.
std::string local_time(const std::string& stamp);
/// "11:49:03" of it.
std::string local_clock(const std::string& stamp);

}  // namespace orange::output
