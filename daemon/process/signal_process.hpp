#pragma once

#include <cstdint>

namespace orange {

/// Signals that very process: nothing happens where the pid is gone or belongs to another process by now. True where
/// the signal was sent.
bool signal_process(std::int64_t pid, std::int64_t start_time, int signal);

}  // namespace orange
