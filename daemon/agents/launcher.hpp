#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/names.hpp"
#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/agents/remains.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/process/exit_watcher.hpp"
#include "daemon/process/group.hpp"
#include "daemon/process/scopes.hpp"
#include "daemon/shim/exit_record.hpp"
#include "daemon/shim/spec.hpp"
#include "daemon/tmux/tmux.hpp"

namespace orange::agents {

/// What the launcher needs to start one run.
struct StartRequest {
    AgentRun run;  ///< run, role, window_name set; the rest is filled in
    TaskId task;
    std::string project;
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;
    std::string worktree;
    std::string session;                   ///< name for a new session
    std::string in_session;                ///< id of the session to open a window in; empty: a new one
    std::string native_session = {};       ///< the name of its program's conversation, where Orange chose it
    std::string events = {};               ///< the file for its program's events; empty: it tells none
    std::string typed = {};                ///< the prompt, for a program that loses it on its command line
    std::vector<std::string> around = {};  ///< argv of an executor, with the word {inner} for the agent's shim
    bool needs_socket = false;             ///< the agent can reach the daemon by the socket of its run only
};

/// A run that has begun, and the name of the session that it is in.
struct Started {
    AgentRun run;
    std::string session;  ///< empty: the one that it was opened in
};

/// What is known of a run's end.
struct RunEnd {
    int exit_status = -1;         ///< as a shell shows it; -1: unknown
    int signal = 0;               ///< that ended it; 0: none, or unknown
    std::string error;            ///< why the program could not even be started
    std::optional<GroupUse> use;  ///< of its control group; nothing: it had none
    bool scope_killed = false;    ///< its shim was killed with all of its scope, as systemd-oomd does it
    bool not_started = false;     ///< its executor ended before the agent had begun
    /// When the agent began, as the far side of its executor says.
    std::optional<Timestamp> started_at = {};
    std::string left;  ///< what still runs that it started, because it had none: "sleep 600 (4711), …"
};

/// `unknown`: its process cannot be looked at just now, so that nothing may follow from it.
enum class Liveness { none, starting, alive, dead, unknown };
std::string_view name_of(Liveness liveness);
/// Alive, as far as is known: what must not meet a second one of its kind.
inline bool may_live(Liveness liveness) {
    return liveness == Liveness::alive || liveness == Liveness::unknown;
}

/// The server that answers is the one that the run's ids are of: by its pid, and by its start time where both are
/// known.
inline bool is_on_server(const AgentRun& run, const TmuxState& state) {
    const bool same_start = run.server_start == 0 || state.server_start == 0 || run.server_start == state.server_start;
    return run.server_pid == state.server_pid && same_start;
}

enum class ServerOfRun {
    answers,  ///< the run's window may be there
    is_gone,  ///< the run ended because its server did
    unknown,  ///< another server has its socket, or it does not answer
};

/// Starts and ends agent processes: a spec file in the task's folder, a tmux window with the shim in it, and back.
/// Knows nothing of workflows; what a run is for is the caller's.
class Launcher {
  public:
    /// What a process was started with (process::argv_of; tests have their own processes).
    using ArgvOf = std::function<std::vector<std::string>(std::int64_t pid)>;

    Launcher(FileSystem& files, Tmux& tmux, ExitWatcher& exits, const Clock& clock, Path shim);
    Launcher(FileSystem& files, Tmux& tmux, ExitWatcher& exits, const Clock& clock, Path shim, ArgvOf argv_of);

    /// Sets the source of the words that put a run into a scope of its own. Unset: runs have none.
    void start_in(process::RunScopes& scopes) { scopes_ = &scopes; }
    /// Sets the folder of the control groups of runs.
    void look_for_groups_in(Path folder) { groups_ = std::move(folder); }

    /// Fails with the reason if runs have no control groups of their own, or if these cannot limit memory; with
    /// not_found if this machine cannot have them.
    Awaitable<Result<void>> has_groups();

    /// Returns the kernel's counts for a run that has a control group of its own.
    std::optional<GroupUse> use_of(const AgentRun& run) const { return process::use_of(group_of(run)); }
    /// Returns true if the kernel holds the run and all that it starts to its limit of memory.
    bool is_limited(const AgentRun& run) const { return process::is_limited_to(group_of(run), run.memory_limit); }

    /// How long end() waits for a process that was asked to end, before it is made to.
    void set_patience(std::chrono::milliseconds patience) {
        patience_ = patience;
        server_patience_ = std::min(patience, server_patience_);
    }

    /// Opens the window and returns the run with all ids filled in. `run_folder` is the task's run/. timeout: it may
    /// have begun all the same (tmux was too slow, or its process cannot be looked at), which adopt() finds out.
    Awaitable<Result<Started>> start(StartRequest request, Path run_folder);

    /// The run that a daemon which died in the middle of start(), or a timeout, left behind: found by its spec file
    /// among the panes of our tmux server. not_found where it never began; unavailable where tmux does not answer, or a
    /// process cannot be looked at.
    Awaitable<Result<AgentRun>> adopt(AgentRun run, Path run_folder);

    /// Saves the window's scrollback to `log`, kills the window and waits until its processes have ended, with force
    /// where they do not. Success where it is gone already.
    Awaitable<Result<void>> end(AgentRun run, Path log);

    /// Returns the processes that a run has left that has ended. Nothing if its shim has ended them, with its control
    /// group. Takes a look at all processes, which serves all callers that ask before it begins.
    Awaitable<std::vector<process::Leftover>> left_by(AgentRun run, Path run_folder);
    std::uint64_t looks_at_processes() const { return remains_.looks(); }

    /// After a death: saves what the window shows, closes it, removes the spec, and ends what is left in the run's
    /// control group. A shim that was killed has written nothing and ended nothing: what it left in its session or in
    /// `worktree` is ended here. `left`: of left_by(), since the death. `server`: of server_of(), asked just before.
    /// Returns how the run ended.
    Awaitable<RunEnd> bury(AgentRun run, Path run_folder, Path log, Path worktree, std::vector<process::Leftover> left,
                           ServerOfRun server);
    Awaitable<RunEnd> bury(AgentRun run, Path run_folder, Path log, Path worktree);

    Liveness liveness(const AgentRun& run) const;

    /// Lets a run whose shim is gone count as unknown until forgotten, because its executor cannot say if the run goes
    /// on.
    void set_unknown(const RunId& run) { unknown_.insert(run.value); }
    void forget_unknown(const RunId& run) { unknown_.erase(run.value); }

    /// What became of the tmux server of a run that has ended. A server that answers now has outlived the run. One that
    /// ends closes its panes and stops answering before its process is gone: that is waited for.
    Awaitable<ServerOfRun> server_of(AgentRun run);

    /// When the tmux server was started that the run's ids are of, where that server still runs, whether anybody can
    /// reach it or not. Nothing where it does not, or cannot be told from a later process.
    std::optional<std::int64_t> server_start(const AgentRun& run) const;

    static Path spec_file(const Path& run_folder, const RunId& run) { return run_folder / (run.value + ".json"); }
    static Path exit_file(const Path& run_folder, const RunId& run) { return run_folder / (run.value + ".exit"); }
    /// Returns the folder that the far side of a run in an executor uses: the files of its shim there, and the agent's
    /// instructions.
    static Path inner_folder(const Path& run_folder, const RunId& run) { return run_folder / run.value; }
    /// Reads a file that the far side writes, where an agent may write, too: at most 64 KiB.
    Result<std::string> read_inner(const Path& file) const;
    /// Returns the record of the shim in the window, or of the one on the far side; nothing if there is neither.
    std::optional<ExitRecord> exit_of(const Path& run_folder, const AgentRun& run) const;
    /// Returns what the shim on the far side has written when it began; nothing if there is none.
    std::optional<StartRecord> start_of(const Path& run_folder, const AgentRun& run) const;

  private:
    Result<void> write_specs(RunSpec& spec, const std::vector<std::string>& around, const Path& run_folder);
    bool keep_end(const AgentRun& run, const RunEnd& end, const Path& run_folder);
    Result<void> write_inner_spec(RunSpec& spec, const std::vector<std::string>& around, const Path& folder);
    Awaitable<void> save_scrollback(AgentRun run, Path log);
    Awaitable<bool> on_same_server(AgentRun run);
    Awaitable<std::vector<std::string>> scope_for(AgentRun run);
    Awaitable<std::string> end_group(AgentRun run, std::vector<process::Leftover> left);
    Path group_of(const AgentRun& run) const { return groups_ / process::scope_of_run(run.run.value); }

    FileSystem& files_;
    Tmux& tmux_;
    ExitWatcher& exits_;
    const Clock& clock_;
    Path shim_;
    ArgvOf argv_of_;
    Remains remains_;
    async::SharedAnswer<Result<TmuxState>> server_{[this] { return tmux_.server(); }};
    process::RunScopes* scopes_ = nullptr;
    std::set<std::string> unknown_;  ///< runs
    std::string scope_problem_;      ///< that was logged last
    Path groups_ = process::groups_of_runs();
    // The shim gives its agent 5 s between HUP and KILL and its leftovers 2 s more; after that it is the shim that
    // hangs.
    std::chrono::milliseconds patience_{9000};
    std::chrono::milliseconds server_patience_{2000};  ///< for a server that is ending
};

}  // namespace orange::agents
