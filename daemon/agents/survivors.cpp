#include "daemon/agents/survivors.hpp"

#include <csignal>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"
#include "daemon/process/proc_info.hpp"
#include "daemon/process/signal_process.hpp"

namespace orange::agents {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds k_look_again = 50ms, k_grace = 1s, k_give_up = 3s;

struct Survivor {
    std::int64_t pid = 0;
    std::int64_t start_time = 0;
};

bool is_below(const std::string& directory, const std::string& place) {
    return directory == place || directory.starts_with(place + "/");
}

std::vector<Survivor> survivors(const AgentRun& run, const std::string& worktree) {
    std::vector<Survivor> found;
    for (const auto pid : proc::all_pids()) {
        if (proc::environ_of(pid, "ORANGE_RUN") != run.run.value) continue;
        const auto cwd = proc::cwd_of(pid);
        const bool in_worktree = !worktree.empty() && cwd && is_below(*cwd, worktree);
        if (!in_worktree && proc::session_of(pid) != run.pid) continue;
        if (const auto started = proc::start_time(pid)) found.push_back({pid, *started});
    }
    return found;
}

std::vector<Survivor> left_by_daemons(const std::string& worktree, const std::string& own_mark) {
    const auto home = own_mark.substr(0, own_mark.rfind('@') + 1);
    std::vector<std::int64_t> marked;
    std::set<std::int64_t> sessions;
    for (const auto pid : proc::all_pids()) {
        const auto mark = proc::environ_of(pid, k_daemon_variable);
        if (!mark || !mark->starts_with(home) || *mark == own_mark) continue;
        marked.push_back(pid);
        const auto cwd = proc::cwd_of(pid);
        const auto session = proc::session_of(pid);
        if (cwd && session && is_below(*cwd, worktree)) sessions.insert(*session);
    }
    std::vector<Survivor> found;
    for (const auto pid : marked) {
        const auto session = proc::session_of(pid);
        const auto started = proc::start_time(pid);
        if (session && started && sessions.contains(*session)) found.push_back({pid, *started});
    }
    return found;
}

/// `find` is asked again until there are none: what is told to end may start others first.
Awaitable<void> end_all(std::vector<Survivor> left, std::function<std::vector<Survivor>()> find) {
    for (std::chrono::milliseconds waited{}; !left.empty() && waited < k_give_up; waited += k_look_again) {
        const int signal = waited < k_grace ? SIGTERM : SIGKILL;
        for (const auto& process : left) {
            if (waited == waited.zero() || signal == SIGKILL) {
                signal_process(process.pid, process.start_time, signal);
                if (signal == SIGTERM) signal_process(process.pid, process.start_time, SIGCONT);
            }
        }
        co_await async::sleep(k_look_again);
        left = find();
    }
}

}  // namespace

Awaitable<void> end_survivors(AgentRun run, Path worktree) {
    if (run.run.empty()) co_return;
    auto left = survivors(run, worktree.string());
    if (left.empty()) co_return;
    log::warn("agents", "ending what a killed shim left",
              {{"run", run.run.value}, {"processes", std::to_string(left.size())}});
    std::function<std::vector<Survivor>()> find = [run, place = worktree.string()] { return survivors(run, place); };
    co_await end_all(std::move(left), std::move(find));
}

Awaitable<void> end_left_by_daemons(Path worktree, std::string mark) {
    auto left = left_by_daemons(worktree.string(), mark);
    if (left.empty()) co_return;
    log::warn("agents", "ending what a killed daemon left",
              {{"worktree", worktree.string()}, {"processes", std::to_string(left.size())}});
    std::function<std::vector<Survivor>()> find = [mark, place = worktree.string()] {
        return left_by_daemons(place, mark);
    };
    co_await end_all(std::move(left), std::move(find));
}

}  // namespace orange::agents
