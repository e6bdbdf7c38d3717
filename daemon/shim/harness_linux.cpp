#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "daemon/shim/harness.hpp"

namespace orange::shim {

int end_with_shim() {
    return ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ? errno : 0;
}

int close_others_at_exec() {
    // By its number: musl has no close_range().
    return ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0 ? errno : 0;
}

}  // namespace orange::shim
