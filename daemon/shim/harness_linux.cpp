#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "daemon/process/proc_info.hpp"
#include "daemon/shim/harness.hpp"

namespace orange::shim {

int end_with_shim(int signal) {
    return ::prctl(PR_SET_PDEATHSIG, signal) != 0 ? errno : 0;
}

int close_others_at_exec() {
    // Call it by its number: musl has no close_range().
    return ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0 ? errno : 0;
}

void leave_session_keyring() {
    constexpr long k_join_session_keyring = 1;  // of linux/keyctl.h; a kernel without keys has none to hide
    (void)::syscall(SYS_keyctl, k_join_session_keyring, nullptr);
}

bool is_counted_alone(const std::string& outer) {
    constexpr int k_first[] = {5, 14};  // an earlier kernel counts all processes of the user
    utsname kernel{};
    int version[2] = {};
    if (outer.empty() || ::uname(&kernel) != 0) return false;
    if (std::sscanf(kernel.release, "%d.%d", &version[0], &version[1]) != 2) return false;
    const bool is_old = std::ranges::lexicographical_compare(version, k_first);
    const auto own = process::user_namespace_of(::getpid());
    return !is_old && own && *own != outer;
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
