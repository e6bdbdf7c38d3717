#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>

#include "daemon/process/proc_info.hpp"
#include "daemon/shim/leftovers.hpp"

namespace orange::shim {
namespace {

std::set<pid_t> descendants() {
    std::multimap<pid_t, pid_t> children;
    for (const auto pid : proc::all_pids()) {
        if (const auto parent = proc::parent_of(pid)) {
            children.emplace(static_cast<pid_t>(*parent), static_cast<pid_t>(pid));
        }
    }
    std::set<pid_t> found;
    std::vector<pid_t> open{::getpid()};
    while (!open.empty()) {
        const auto [first, last] = children.equal_range(open.back());
        open.pop_back();
        for (auto child = first; child != last; ++child) {
            if (found.insert(child->second).second) open.push_back(child->second);
        }
    }
    return found;
}

bool is_inside(std::string directory, const std::string& worktree) {
    constexpr std::string_view k_deleted = " (deleted)";
    if (directory.ends_with(k_deleted)) directory.resize(directory.size() - k_deleted.size());
    return directory == worktree || directory.starts_with(worktree + "/");
}

}  // namespace

std::vector<pid_t> leftovers(const std::string& worktree, const RunId&) {
    std::error_code error;
    // The kernel tells resolved paths.
    const auto real = worktree.empty() ? std::string() : std::filesystem::weakly_canonical(worktree, error).string();
    std::vector<pid_t> left;
    for (const auto pid : descendants()) {
        if (!proc::start_time(pid)) continue;  // a zombie
        const auto cwd = proc::cwd_of(pid);
        const bool in_session = proc::session_of(pid) == ::getsid(0);
        if (in_session || (!real.empty() && cwd && is_inside(*cwd, real))) left.push_back(pid);
    }
    return left;
}

}  // namespace orange::shim
