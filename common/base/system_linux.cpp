#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <fstream>

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

std::optional<PidNamespace> pid_namespace() {
    struct stat facts {};
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    PidNamespace found;
    if (!(file >> found.boot) || ::stat("/proc/self/ns/pid", &facts) != 0) return std::nullopt;
    found.number = std::to_string(facts.st_ino);
    return found;
}

void adopt_orphans() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void be_idle() {
    constexpr int k_lowest = 19, k_process = 1, k_idle_class = 3 << 13;  // IOPRIO_WHO_PROCESS, IOPRIO_CLASS_IDLE
    (void)::setpriority(PRIO_PROCESS, 0, k_lowest);
    (void)::syscall(SYS_ioprio_set, k_process, 0, k_idle_class);
}

}  // namespace orange::system
