// Compiled by scripts/check-macos, but never run.
#include <unistd.h>

#include "daemon/process/proc_info.hpp"
#include "daemon/process/stray_processes_platform.hpp"

namespace orange::process {

std::vector<std::int64_t> kin_of_this_process() {
    auto found = all_pids();
    std::erase(found, ::getpid());
    return found;
}

bool is_surely_of(std::int64_t pid, const std::string& run) {
    return environ_of(pid, "ORANGE_RUN") == run;
}

}  // namespace orange::process
