// Compiled by scripts/check-macos, but never run.
#include <signal.h>

#include "daemon/process/proc_info.hpp"
#include "daemon/process/signal_process.hpp"

namespace orange {

bool signal_process(std::int64_t pid, std::int64_t start_time, int signal) {
    // macOS cannot pin a process. The process may end between the two calls, but its pid is reused only after some
    // 100,000 others.
    return process::start_time(pid) == start_time && ::kill(static_cast<pid_t>(pid), signal) == 0;
}

}  // namespace orange
