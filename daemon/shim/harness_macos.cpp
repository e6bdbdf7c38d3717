// Compiled by scripts/check-macos, never run.
#include <fcntl.h>
#include <unistd.h>

#include "daemon/shim/harness.hpp"

namespace orange::shim {

int end_with_shim(int) {
    return 0;  // macOS cannot end the agent when the shim dies; the daemon finds the agent by its run id
}

int close_others_at_exec() {
    for (int fd = 3; fd < ::getdtablesize(); ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    return 0;
}

void leave_session_keyring() {}

bool is_counted_alone(const std::string&) {
    return false;
}

void go_first() {}  // macOS has no such setting

}  // namespace orange::shim
