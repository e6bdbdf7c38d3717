#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/base/system.hpp"

namespace orange::system {

int make_pipe(int ends[2]) {
    return ::pipe2(ends, O_CLOEXEC);
}

int local_socket() {
    return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int send_flags() {
    return MSG_NOSIGNAL;
}

int wait_for_signal(const sigset_t& signals, std::optional<std::chrono::nanoseconds> time) {
    if (!time) return ::sigwaitinfo(&signals, nullptr);
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(std::chrono::duration_cast<std::chrono::seconds>(*time).count());
    timeout.tv_nsec = static_cast<long>((*time % std::chrono::seconds(1)).count());
    return ::sigtimedwait(&signals, nullptr, &timeout);
}

std::optional<std::chrono::seconds> uptime() {
    timespec passed{};
    if (::clock_gettime(CLOCK_BOOTTIME, &passed) != 0) return std::nullopt;
    return std::chrono::seconds(passed.tv_sec);
}

void adopt_orphans() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

}  // namespace orange::system
