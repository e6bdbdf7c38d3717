#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/process/proc_info.hpp"
#include "daemon/process/signal_process.hpp"

namespace orange {

bool signal_process(std::int64_t pid, std::int64_t start_time, int signal) {
    // The descriptor pins the process: if the start time is right after it was opened, the pid cannot be reused any
    // more.
    const long fd = ::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0);
    if (fd < 0) return false;
    const bool same = process::start_time(pid) == start_time;
    const bool sent = same && ::syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0) == 0;
    ::close(static_cast<int>(fd));
    return sent;
}

}  // namespace orange
