#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "daemon/shim/harness.hpp"

namespace orange::shim {

int end_with_shim() {
    return ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ? errno : 0;
}

int close_others_at_exec() {
    // Call it by its number: musl has no close_range().
    return ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0 ? errno : 0;
}

void leave_session_keyring() {
    constexpr long k_join_session_keyring = 1;  // of linux/keyctl.h; a kernel without keys has none to hide
    (void)::syscall(SYS_keyctl, k_join_session_keyring, nullptr);
}

void go_first() {
    constexpr std::string_view k_adjustment = "500";
    const int file = ::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    char now[16] = "";
    const bool higher = ::read(file, now, sizeof now - 1) > 0 && std::atoi(now) >= 500;
    if (!higher) (void)!::pwrite(file, k_adjustment.data(), k_adjustment.size(), 0);
    ::close(file);
}

}  // namespace orange::shim
