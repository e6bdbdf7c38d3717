#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.hpp"
#include "common/model/record.hpp"

/// Who is at the other end of the socket (docs/protocol.md, "Who is calling"). A guard rail against mistakes and
/// self-promotion, no wall against a hostile process of the same user.
namespace orange::agents {

/// One process as the kernel shows it.
struct ProcessEntry {
    std::int64_t parent = 0;
    std::int64_t session = 0;
    std::int64_t start_time = 0;  ///< clock ticks since boot
    std::int64_t tty = 0;         ///< device number of the controlling terminal; 0: none
    bool shim = false;            ///< it is an orange-agent of this ORANGE_HOME
};

/// The variables by which a process says which agent it belongs to. Empty where unset.
struct Claim {
    std::string task;
    std::string role;
    std::string run;
};

/// The process table, as far as identity needs it.
class ProcessTable {
  public:
    virtual ~ProcessTable() = default;
    /// Nothing where it is gone, or a zombie.
    virtual std::optional<ProcessEntry> entry(std::int64_t pid) = 0;
    virtual Claim claim(std::int64_t pid) = 0;
    /// Empty where it cannot be told.
    virtual std::string working_directory(std::int64_t pid) = 0;
};

/// The kernel's own, through /proc. Shims and claims of another ORANGE_HOME are none of ours: an agent may well work on
/// Orange itself and run a daemon of its own.
class ProcProcessTable final : public ProcessTable {
  public:
    explicit ProcProcessTable(std::string home) : home_(std::move(home)) {}
    std::optional<ProcessEntry> entry(std::int64_t pid) override;
    Claim claim(std::int64_t pid) override;
    std::string working_directory(std::int64_t pid) override;

  private:
    std::string home_;
};

/// A process that was found on the way up, by pid and start time (pids are reused).
struct ProcessId {
    std::int64_t pid = 0;
    std::int64_t start_time = 0;

    bool operator==(const ProcessId&) const = default;
};

/// Everything that was found out about a peer. Plain data, so that the decision can be tested as a table.
struct Evidence {
    bool same_user = true;
    std::int64_t pid = 0;
    bool complete = false;             ///< the peer was there all the time, and its ancestors up to the first process
    std::vector<ProcessId> ancestors;  ///< the peer itself first
    bool under_shim = false;           ///< one of them is an orange-agent, registered or not
    std::int64_t session = 0;
    std::int64_t tty = 0;
    Claim claim;  ///< of the peer, or of the nearest ancestor that has one
    std::string working_directory;
};

/// A run of an agent that is alive, as the registry of runs knows it.
struct LivingRun {
    TaskId task;
    Role role = Role::worker;
    RunId run;
    ProcessId shim;
    std::int64_t session = 0;  ///< the shim's; 0: not known
    std::int64_t tty = 0;      ///< of its pane; 0: not known
    std::string worktree;
};

/// Walks up from the peer. Called when a connection is accepted: a caller may be gone a moment later. `start_time` is
/// the peer's at the time of accept (0: take what is found); another one at the end means that the pid was reused.
Evidence collect_evidence(ProcessTable& table, std::int64_t pid, std::int64_t start_time, bool same_user);

/// The runs as the decision wants them: session and terminal of each shim looked up, runs whose shim is gone left out.
LivingRun living_run(ProcessTable& table, const TaskId& task, const AgentRun& run, std::string worktree);

/// The decision. The first of these that holds: another user → unknown; a registered shim among the ancestors; a run's
/// session; a run's terminal; the environment; a working directory in a run's worktree without a terminal; an
/// orange-agent or Orange's tmux server (`tmux_server`, 0: none runs) among the ancestors, or an ancestry that could
/// not be followed → unknown; else a human.
///
/// The environment can only lower: its worker is believed, its reviewer only by the id of a living run, or below a
/// shim that is not registered yet (the run id is the caller's then: whoever acts on a verdict compares it with the
/// task's reviewer). `run` is empty where only a weaker trace than a run was found.
Caller identify(const Evidence& evidence, const std::vector<LivingRun>& runs, std::int64_t tmux_server);

}  // namespace orange::agents
