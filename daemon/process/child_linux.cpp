#include <linux/close_range.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/process/child.hpp"
#include "daemon/process/child_platform.hpp"

namespace orange {

const int k_close_others = 0;

int close_others(posix_spawn_file_actions_t&) {
    // Marks all descriptors of this process as close-on-exec. Call it by number, because musl has no close_range().
    return ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0 ? errno : 0;
}

std::optional<int> wait_for(pid_t, int pidfd, bool to_its_end) {
    siginfo_t info{};
    int result = 0;
    do {
        result = ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, to_its_end ? WEXITED : WEXITED | WNOHANG);
    } while (result != 0 && errno == EINTR);
    // ECHILD: the child was reaped elsewhere (SIGCHLD is ignored in this process). Its status is lost, but it has
    // ended.
    if (result != 0) return 255;
    if (info.si_pid == 0) return std::nullopt;
    return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

UniqueFd open_pidfd(pid_t pid, int& error) {
    UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));  // always CLOEXEC
    error = fd ? 0 : errno;
    return fd;
}

}  // namespace orange
