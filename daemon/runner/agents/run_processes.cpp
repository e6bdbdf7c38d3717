#include "daemon/runner/agents/run_processes.hpp"

#include <chrono>

namespace orange {
namespace {

/// True for the program that draws the window, and for its wrapper. Commands that they start later are usually in a
/// process group of their own.
bool draws_window(std::int64_t pid, const AgentRun& run) {
    constexpr auto k_slow_start = std::chrono::seconds(30);
    const auto later = process::is_in_foreground(pid) ? process::began_after(pid, run.pid) : std::nullopt;
    return later && *later < k_slow_start;
}

}  // namespace

const std::vector<std::int64_t>& RunProcesses::seen_children_of(std::int64_t pid) {
    constexpr auto k_serves_for = std::chrono::seconds(2);
    const auto now = async::now();
    if (!looked_ || now - *looked_ > k_serves_for) {
        looked_ = now;
        seen_.clear();
        for (const auto each : process::all_pids()) {
            if (const auto parent = process::parent_of(each)) seen_[*parent].push_back(each);
        }
    }
    return seen_[pid];
}

std::vector<std::int64_t> RunProcesses::family_of(std::int64_t ancestor) {
    std::vector<std::int64_t> family = {ancestor};
    for (std::size_t i = 0; i < family.size(); ++i) {
        const auto told = children_of_(family[i]);
        const auto& children = told ? *told : seen_children_of(family[i]);
        family.insert(family.end(), children.begin(), children.end());
    }
    return family;
}

std::int64_t RunProcesses::cpu_ms_of_all(const AgentRun& run) {
    std::int64_t time = 0;
    for (const auto pid : family_of(run.pid)) time += process::cpu_ms_of(pid).value_or(0);
    return time;
}

std::int64_t RunProcesses::cpu_ms_of_commands(const AgentRun& run) {
    std::int64_t time = 0;
    for (const auto pid : family_of(run.pid)) {
        if (!draws_window(pid, run)) time += process::cpu_ms_of(pid).value_or(0);
    }
    return time;
}

}  // namespace orange
