#pragma once

#include <cstdint>

namespace orange {

/// Signals exactly that process: nothing happens if it has ended, or the pid belongs to another process now. Returns
/// true if the signal was sent.
bool signal_process(std::int64_t pid, std::int64_t start_time, int signal);

}  // namespace orange
