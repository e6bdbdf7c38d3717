#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.hpp"
#include "common/model/record.hpp"
#include "daemon/agents/call_chain.hpp"

/// Identifies the caller at the other end of a socket (docs/protocol.md, "Who is calling"). It protects against
/// mistakes and self-promotion, not against a hostile process of the same user (docs/security.md).
namespace orange::agents {

/// A process as the kernel shows it.
struct ProcessEntry {
    std::int64_t parent = 0;
    std::int64_t session = 0;
    std::int64_t start_time = 0;  ///< clock ticks since boot
    std::int64_t tty = 0;         ///< device number of the controlling terminal; 0: none
    bool shim = false;            ///< it is an orange-agent of this ORANGE_HOME that runs an agent
    bool inner = false;           ///< likewise, on the far side of an executor
    bool keeper = false;          ///< Orange's tmux server was started below it
};

/// The variables by which a process says to which agent it belongs. Empty if not set.
struct Claim {
    std::string task;
    std::string role;
    std::string run;
};

/// The part of the process table that identity needs.
class ProcessTable {
  public:
    virtual ~ProcessTable() = default;
    /// Returns nullopt if the process has ended or is a zombie.
    virtual std::optional<ProcessEntry> entry(std::int64_t pid) = 0;
    virtual Claim claim(std::int64_t pid) = 0;
    /// Returns the address from which a person's ssh came to this machine, as the process says; empty if there is none.
    virtual std::string ssh_client(std::int64_t pid) = 0;
    /// Returns the socket of the process's ssh-agent (SSH_AUTH_SOCK); empty if it has none.
    virtual std::string ssh_agent(std::int64_t pid) = 0;
    /// Returns the working directory; empty if it cannot be found out.
    virtual std::string working_directory(std::int64_t pid) = 0;
    virtual Program program(std::int64_t pid) = 0;
};

/// Reads the kernel's table through /proc. Shims and claims of another ORANGE_HOME do not count: an agent may work on
/// Orange itself and run a daemon of its own.
class ProcProcessTable final : public ProcessTable {
  public:
    explicit ProcProcessTable(std::string home) : home_(std::move(home)) {}
    std::optional<ProcessEntry> entry(std::int64_t pid) override;
    Claim claim(std::int64_t pid) override;
    std::string ssh_client(std::int64_t pid) override;
    std::string ssh_agent(std::int64_t pid) override;
    std::string working_directory(std::int64_t pid) override;
    Program program(std::int64_t pid) override;

  private:
    std::string home_;
};

/// A process by pid and start time, because pids are reused.
struct ProcessId {
    std::int64_t pid = 0;
    std::int64_t start_time = 0;

    bool operator==(const ProcessId&) const = default;
};

/// All evidence about a peer, as plain data, so that a table of cases can test the decision.
struct Evidence {
    bool same_user = true;
    std::int64_t pid = 0;
    bool complete = false;             ///< the peer lived all the time, and the walk reached the first process
    std::vector<ProcessId> ancestors;  ///< the peer itself first
    std::size_t below_shim = 0;        ///< how many of them are below the topmost orange-agent of an agent
    std::vector<Program> programs;     ///< the programs of these
    bool under_shim = false;           ///< one of them is an agent's orange-agent, registered or not
    bool under_inner = false;          ///< one of them is an orange-agent on the far side of an executor
    bool under_keeper = false;         ///< one of them is the tmux server's
    ProcessId session;                 ///< its session's leader; start time 0: the leader has gone
    std::int64_t tty = 0;
    Claim claim;  ///< of the peer, or of the nearest ancestor that has one
    std::string working_directory;
    std::string ssh_client;  ///< of the peer
    std::string ssh_agent;   ///< of the peer
    TaskId socket_task;      ///< with `socket_run`: the run whose socket the peer used
    RunId socket_run;        ///< empty: the peer used the daemon's socket
    std::string from;        ///< another machine, where that run has proved itself; no process is known then
};

/// A run of an agent, as the registry knows it.
struct KnownRun {
    TaskId task;
    Role role = Role::worker;
    RunId run;
    ProcessId shim;
};

/// Knows the agents and workspaces. Each query is a look-up, so that a call costs the same with many tasks.
class Registry {
  public:
    virtual ~Registry() = default;
    virtual std::optional<KnownRun> run_of_shim(const ProcessId& shim) const = 0;
    /// Returns the run whose shim has or had that pid. The session of a leader that has ended keeps its number.
    virtual std::optional<KnownRun> run_of_session(std::int64_t pid) const = 0;
    virtual std::optional<KnownRun> run_of_worker(const TaskId& task) const = 0;
    /// Returns the task's run of that id. The shim of a run that is just being started has the pid 0.
    virtual std::optional<KnownRun> run_of(const TaskId& task, const RunId& run) const = 0;
    virtual bool is_tmux_server(const ProcessId& process) const = 0;
    /// True for the daemon itself.
    virtual bool is_daemon(std::int64_t pid) const = 0;
    /// Returns the task whose worktree contains that directory.
    virtual std::optional<TaskId> task_at(const std::string& directory) const = 0;
};

/// Walks up from the peer. `start_time` is that of the peer when it connected (0: not known; -1: it had ended). If the
/// start time is different at the end of the walk, the pid was reused, and the result is empty.
Evidence collect_evidence(ProcessTable& table, std::int64_t pid, std::int64_t start_time, bool same_user);

/// Returns true if the caller is below an orange-agent that is about to be registered: the evidence has to be collected
/// again a moment later.
bool is_early(const Evidence& evidence, const Registry& registry);

/// Decides by the first of these that holds: another user → unknown; a registered shim among the ancestors → that
/// run; another shim (on the daemon's socket also one of an executor's far side), or Orange's tmux server, among them,
/// or an ancestry that could not be followed → unknown; a run's session → that run; the tmux server's keeper, or the
/// daemon, among them → unknown; a task in the environment → its worker; a directory in a worktree, without a terminal
/// → its worker; else a human.
///
/// A process chooses its environment and directory, so these can only take rights from a human. A reviewer descends
/// from the reviewer's shim or is in its session. `run` is empty if the evidence names a task and no run.
///
/// A run's socket grants no more than its run. The kernel's traces, down to the daemon among the ancestors, count as on
/// the daemon's socket; if they lead to another run, the caller is unknown. Only a caller without such a trace is the
/// socket's run, and its verdict is not attested: any process of the user can open the socket. The same holds for a
/// caller on another machine, which has proved its run.
Caller identify(const Evidence& evidence, const Registry& registry);

}  // namespace orange::agents
