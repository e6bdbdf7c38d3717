#pragma once

#include <functional>

#include "daemon/agents/identity.hpp"
#include "daemon/async/keyed_mutex.hpp"
#include "daemon/pool/pool.hpp"
#include "daemon/rpc/server.hpp"
#include "daemon/store/task_store.hpp"

namespace orange {

/// Identifies callers from the store's index of runs, the pool's workspaces and the process table. Everything to which
/// it refers must outlive it.
class Callers final : public agents::Registry {
  public:
    /// `tmux_server` returns Orange's tmux server, or the pid 0 if none is known.
    Callers(agents::ProcessTable& processes, const store::TaskStore& tasks, const Pool& pool,
            async::KeyedMutex& task_locks, std::function<agents::ProcessId()> tmux_server)
        : processes_(processes),
          tasks_(tasks),
          pool_(pool),
          task_locks_(task_locks),
          tmux_server_(std::move(tmux_server)) {}

    /// Registers the function that gets the ssh-agent (SSH_AUTH_SOCK) of each person who calls.
    void on_ssh_agent(std::function<void(const std::string&)> observer) { ssh_agent_ = std::move(observer); }

    /// Returns the caller. If an agent calls while it is being started, waits until its run is saved.
    Awaitable<Caller> identify(rpc::Peer peer);

    std::optional<agents::KnownRun> run_of_shim(const agents::ProcessId& shim) const override;
    std::optional<agents::KnownRun> run_of_session(std::int64_t pid) const override;
    std::optional<agents::KnownRun> run_of_worker(const TaskId& task) const override;
    std::optional<agents::KnownRun> run_of(const TaskId& task, const RunId& run) const override;
    bool is_tmux_server(const agents::ProcessId& process) const override;
    bool is_daemon(std::int64_t pid) const override;
    std::optional<TaskId> task_at(const std::string& directory) const override;

  private:
    /// Returns the run of a shim; without a start time, whenever the shim started.
    std::optional<agents::KnownRun> run_with_shim(std::int64_t pid, std::optional<std::int64_t> start_time) const;

    agents::ProcessTable& processes_;
    const store::TaskStore& tasks_;
    const Pool& pool_;
    async::KeyedMutex& task_locks_;
    std::function<agents::ProcessId()> tmux_server_;
    std::function<void(const std::string&)> ssh_agent_ = [](const std::string&) {};
};

}  // namespace orange
