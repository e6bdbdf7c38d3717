// Not tried on a machine yet.
#include <unistd.h>

#include <filesystem>

#include "daemon/process/proc_info.hpp"
#include "daemon/shim/leftovers.hpp"

namespace orange::shim {

std::vector<pid_t> leftovers(const std::string& worktree, const RunId& run) {
    std::error_code error;
    const auto real = worktree.empty() ? std::string() : std::filesystem::weakly_canonical(worktree, error).string();
    std::vector<pid_t> left;
    for (const auto pid : proc::all_pids()) {
        if (pid == ::getpid() || !proc::start_time(pid)) continue;
        const auto cwd = proc::cwd_of(pid);
        const bool inside = !real.empty() && cwd && (*cwd == real || cwd->starts_with(real + "/"));
        // A directory alone would be a human's shell too.
        const bool ours = inside && proc::environ_of(pid, "ORANGE_RUN") == run.value;
        if (ours || proc::session_of(pid) == ::getsid(0)) left.push_back(static_cast<pid_t>(pid));
    }
    return left;
}

}  // namespace orange::shim
