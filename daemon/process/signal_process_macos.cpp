// Not tried on a machine yet.
#include <signal.h>

#include "daemon/process/proc_info.hpp"
#include "daemon/process/signal_process.hpp"

namespace orange {

bool signal_process(std::int64_t pid, std::int64_t start_time, int signal) {
    // Nothing pins a process here: it may end, and its number be given away, between these two. Numbers go round a
    // hundred thousand before they come again.
    return process::start_time(pid) == start_time && ::kill(static_cast<pid_t>(pid), signal) == 0;
}

}  // namespace orange
