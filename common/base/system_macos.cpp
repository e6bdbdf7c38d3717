// Compiled by scripts/check-macos, but never run.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "common/base/system.hpp"

namespace orange::system {

int make_pipe(int ends[2]) {
    if (::pipe(ends) != 0) return -1;
    for (int i = 0; i < 2; ++i) ::fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
}

std::optional<std::chrono::seconds> uptime() {
    timeval booted{};
    std::size_t size = sizeof booted;
    if (::sysctlbyname("kern.boottime", &booted, &size, nullptr, 0) != 0) return std::nullopt;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(now) - std::chrono::seconds(booted.tv_sec);
}

std::optional<PidNamespace> pid_namespace() {
    return std::nullopt;
}

int local_socket() {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
    return fd;
}

int send_flags() {
    return 0;
}

int wait_for_signal(const sigset_t& signals, std::optional<std::chrono::nanoseconds> time) {
    int signal = 0;
    if (!time) return ::sigwait(&signals, &signal) == 0 ? signal : -1;
    // macOS has no sigtimedwait. Callers wait only for short times, so this polls.
    const auto end = std::chrono::steady_clock::now() + *time;
    for (;;) {
        sigset_t pending;
        ::sigpending(&pending);
        for (int candidate = 1; candidate < NSIG; ++candidate) {
            // sigismember() is a macro on macOS.
            if (sigismember(&pending, candidate) != 1 || sigismember(&signals, candidate) != 1) continue;
            return ::sigwait(&signals, &signal) == 0 ? signal : -1;
        }
        const auto left = end - std::chrono::steady_clock::now();
        if (left <= left.zero()) return -1;
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds(10)));
    }
}

void adopt_orphans() {}

void be_idle() {
    (void)::setpriority(PRIO_DARWIN_PROCESS, 0, PRIO_DARWIN_BG);
}

}  // namespace orange::system
