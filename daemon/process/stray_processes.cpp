#include "daemon/process/stray_processes.hpp"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <set>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/process/signal_process.hpp"
#include "daemon/process/stray_processes_platform.hpp"

namespace orange::process {
namespace {

constexpr int k_first_kill = 20, k_last_kill = 40;  // steps

/// Resolves links, because the kernel reports resolved paths.
std::string resolved(const std::string& place) {
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(place, error);
    return error ? place : real.string();
}

bool works_in(std::int64_t pid, const std::string& real) {
    const auto directory = real.empty() ? std::nullopt : cwd_of(pid);
    return directory && (*directory == real || *directory == real + " (deleted)" || directory->starts_with(real + "/"));
}

/// Adds a process, unless it is a zombie, which has ended.
/// Returns those of the processes that are wanted and still live.
template <class Wanted>
std::vector<StrayProcess> those_of(const std::vector<std::int64_t>& pids, const Wanted& wanted) {
    std::vector<StrayProcess> found;
    for (const auto pid : pids) {
        const auto started = wanted(pid) ? start_time(pid) : std::nullopt;
        if (started) found.push_back({pid, *started});
    }
    return found;
}

}  // namespace

std::vector<StrayProcess> working_in(const std::string& place) {
    const auto real = resolved(place);
    return those_of(all_pids(), [&](std::int64_t pid) { return works_in(pid, real); });
}

std::vector<StrayProcess> left_by_own_agent(const std::string& worktree, const std::string& run) {
    const auto real = worktree.empty() ? worktree : resolved(worktree);
    return those_of(kin_of_this_process(), [&](std::int64_t pid) {
        const bool in_session = session_of(pid) == ::getsid(0);
        return in_session || (works_in(pid, real) && is_surely_of(pid, run));
    });
}

std::vector<StrayProcess> left_by_run(const std::string& run, std::int64_t shim, const std::string& worktree) {
    std::vector<StrayProcess> found;
    for (const auto& process : of_run(run)) {
        if (works_in(process.pid, worktree) || session_of(process.pid) == shim) found.push_back(process);
    }
    return found;
}

std::vector<StrayProcess> of_run(const std::string& run) {
    return those_of(all_pids(), [&](std::int64_t pid) { return environ_of(pid, "ORANGE_RUN") == run; });
}

std::vector<StrayProcess> of_ended_runs(const std::string& home, const std::set<std::string>& runs) {
    return those_of(all_pids(), [&](std::int64_t pid) {
        const auto run = environ_of(pid, "ORANGE_RUN");
        return run && !runs.contains(*run) && environ_of(pid, "ORANGE_HOME") == home;
    });
}

std::string shown(const std::vector<StrayProcess>& processes) {
    constexpr std::size_t k_most = 5, k_longest = 60;
    std::vector<std::string> texts;
    for (const auto& process : processes) {
        if (texts.size() == k_most) return join(texts, ", ") + ", …";
        const auto command = ellipsized(printable(join(argv_of(process.pid), " ")), k_longest);
        texts.push_back(command + " (" + std::to_string(process.pid) + ")");
    }
    return join(texts, ", ");
}

std::string mark_of_command(const std::string& mark) {
    constexpr std::size_t k_name_length = 12;
    return mark + "/" + random_id(k_name_length);
}

std::vector<StrayProcess> of_command(const std::string& mark) {
    const auto home = mark.substr(0, mark.rfind('@') + 1);
    const auto name = mark.substr(mark.rfind('/'));
    return those_of(all_pids(), [&](std::int64_t pid) {
        const auto its = environ_of(pid, k_daemon_variable);
        return its && its->starts_with(home) && its->ends_with(name);
    });
}

std::vector<StrayProcess> left_by_daemons(const std::string& worktree, const std::string& own_mark) {
    const auto home = own_mark.substr(0, own_mark.rfind('@') + 1);
    std::vector<std::int64_t> marked;
    std::set<std::int64_t> sessions;
    for (const auto pid : all_pids()) {
        const auto mark = environ_of(pid, k_daemon_variable);
        if (!mark || !mark->starts_with(home)) continue;
        if (*mark == own_mark || mark->starts_with(own_mark + "/")) continue;
        marked.push_back(pid);
        const auto session = session_of(pid);
        if (session && works_in(pid, worktree)) sessions.insert(*session);
    }
    return those_of(marked, [&](std::int64_t pid) {
        const auto session = session_of(pid);
        return session && sessions.contains(*session);
    });
}

bool Ending::step() {
    if (left_.empty() || steps_ == k_last_kill) return false;
    for (const auto& process : left_) {
        if (steps_ >= k_first_kill) {
            signal_process(process.pid, process.start_time, SIGKILL);
        } else if (steps_ == 0) {
            signal_process(process.pid, process.start_time, SIGTERM);
            signal_process(process.pid, process.start_time, SIGCONT);  // a stopped process handles TERM only after CONT
        }
    }
    ++steps_;
    return true;
}

}  // namespace orange::process
