#include "daemon/runner/run_processes.hpp"

#include <chrono>
#include <map>

#include "daemon/process/proc_info.hpp"

namespace orange {
namespace {

/// The program that draws the window, and its wrapper: what they start later is in a group of its own, as a rule.
bool draws_window(std::int64_t pid, const AgentRun& run) {
    constexpr auto k_slow_start = std::chrono::seconds(30);
    const auto later = process::is_in_foreground(pid) ? process::began_after(pid, run.pid) : std::nullopt;
    return later && *later < k_slow_start;
}

}  // namespace

std::vector<std::int64_t> family_of(std::int64_t ancestor) {
    std::map<std::int64_t, std::vector<std::int64_t>> children;
    for (const auto pid : process::all_pids()) {
        if (const auto parent = process::parent_of(pid)) children[*parent].push_back(pid);
    }
    std::vector<std::int64_t> family = {ancestor};
    for (std::size_t i = 0; i < family.size(); ++i) {
        const auto found = children.find(family[i]);
        if (found != children.end()) family.insert(family.end(), found->second.begin(), found->second.end());
    }
    return family;
}

std::int64_t cpu_ms_of_all(const AgentRun& run) {
    std::int64_t time = 0;
    for (const auto pid : family_of(run.pid)) time += process::cpu_ms_of(pid).value_or(0);
    return time;
}

std::int64_t cpu_ms_of_commands(const AgentRun& run) {
    std::int64_t time = 0;
    for (const auto pid : family_of(run.pid)) {
        if (!draws_window(pid, run)) time += process::cpu_ms_of(pid).value_or(0);
    }
    return time;
}

}  // namespace orange
