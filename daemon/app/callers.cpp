#include "daemon/app/callers.hpp"

#include <unistd.h>

#include <algorithm>

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_registration_deadline = 10s;
constexpr auto k_look_again = 50ms;

agents::KnownRun known(const TaskId& task, const AgentRun& run) {
    return {task, run.role, run.run, {run.pid, run.start_time}};
}

}  // namespace

Awaitable<Caller> Callers::identify(rpc::Peer peer) {
    if (!peer.from.empty()) {
        agents::Evidence elsewhere;
        elsewhere.from = std::move(peer.from);
        elsewhere.socket_task = std::move(peer.task);
        elsewhere.socket_run = std::move(peer.run);
        co_return agents::identify(elsewhere, *this);
    }
    auto evidence = agents::collect_evidence(processes_, peer.pid, peer.start_time, true);
    evidence.socket_task = std::move(peer.task);
    evidence.socket_run = std::move(peer.run);
    const auto until = async::now() + k_registration_deadline;
    while (agents::is_early(evidence, *this) && async::now() < until) {
        {  // The start of an agent holds this lock until the agent is registered.
            const auto registered = co_await task_locks_.acquire(evidence.claim.task);
        }
        if (!agents::is_early(evidence, *this)) break;
        const std::chrono::milliseconds pause = k_look_again;
        co_await async::sleep(pause);
    }
    auto caller = agents::identify(evidence, *this);
    if (caller.role == Role::human && !evidence.ssh_agent.empty()) ssh_agent_(evidence.ssh_agent);
    co_return caller;
}

std::optional<agents::KnownRun> Callers::run_with_shim(std::int64_t pid, std::optional<std::int64_t> start_time) const {
    for (const auto& task : tasks_.runs().with_shim(pid)) {
        const auto record = tasks_.awake(task);
        if (!record) continue;
        for (const auto& run : record->runs) {
            if (run.pid == pid && run.start_time == start_time.value_or(run.start_time)) return known(task, run);
        }
    }
    return std::nullopt;
}

std::optional<agents::KnownRun> Callers::run_of_shim(const agents::ProcessId& shim) const {
    return run_with_shim(shim.pid, shim.start_time);
}

std::optional<agents::KnownRun> Callers::run_of_session(std::int64_t pid) const {
    return run_with_shim(pid, std::nullopt);
}

std::optional<agents::KnownRun> Callers::run_of_worker(const TaskId& task) const {
    const auto record = tasks_.awake(task);
    const auto* run = record ? record->run_of(Role::worker) : nullptr;
    if (!run) return std::nullopt;
    return known(task, *run);
}

std::optional<agents::KnownRun> Callers::run_of(const TaskId& task, const RunId& run) const {
    const auto record = tasks_.awake(task);
    if (!record || run.empty()) return std::nullopt;
    const auto found = std::ranges::find(record->runs, run, &AgentRun::run);
    return found == record->runs.end() ? std::nullopt : std::optional(known(task, *found));
}

bool Callers::is_tmux_server(const agents::ProcessId& process) const {
    if (process.pid <= 0) return false;
    const auto known = tmux_server_();
    const bool same_start = known.start_time == 0 || known.start_time == process.start_time;
    return (process.pid == known.pid && same_start) || tasks_.runs().has_server(process.pid, process.start_time);
}

bool Callers::is_daemon(std::int64_t pid) const {
    return pid == ::getpid();
}

std::optional<TaskId> Callers::task_at(const std::string& directory) const {
    if (directory.empty()) return std::nullopt;
    return pool_.task_at(directory);
}

}  // namespace orange
