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
#include "daemon/process/proc_info.hpp"
#include "daemon/process/scopes.hpp"
#include "daemon/shim/exit_record.hpp"
#include "daemon/shim/spec.hpp"
#include "daemon/tmux/tmux.hpp"

namespace orange::agents {

/// A request to start one run.
struct StartRequest {
    AgentRun run;  ///< run, role, window_name are set; the launcher fills in the rest
    TaskId task;
    std::string project;
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;
    std::string worktree;
    std::string session;              ///< name for a new session
    std::string in_session;           ///< id of the session to open a window in; empty: a new one
    std::string native_session = {};  ///< the name of its program's conversation, if Orange chose it
    bool forks = false;               ///< it continues a copy of another task's conversation
    std::string events = {};          ///< the file for its program's events; empty: none
    std::string inbox = {};           ///< the file from which its program reads messages; empty: they are typed
    std::string typed = {};           ///< the prompt, for a program that loses it on its command line
    std::map<std::string, std::string> copies = {};  ///< files that the far side of an executor makes: their content
    std::vector<std::string> around = {};  ///< argv of an executor, with the word {inner} for the agent's shim
    std::string earlier_hash = {};         ///< HarnessEntry::earlier_hash of its harness
    bool needs_socket = false;             ///< the agent can reach the daemon by the socket of its run only
};

/// A run that has begun, and the name of its session.
struct Started {
    AgentRun run;
    std::string session;  ///< empty: the session in which it was opened
};

/// The end of a run, as far as it is known.
struct RunEnd {
    int exit_status = -1;         ///< as a shell shows it; -1: unknown
    int signal = 0;               ///< the signal that ended it; 0: none, or unknown
    std::string error;            ///< why the program could not be started
    std::optional<GroupUse> use;  ///< of its control group; nullopt: it had none
    bool scope_killed = false;    ///< its shim was killed with all of its scope, as by systemd-oomd
    bool not_started = false;     ///< its executor ended before the agent had begun
    /// When the agent began, as the far side of its executor says.
    std::optional<Timestamp> started_at = {};
    std::string left;  ///< what still runs that it started, because it had none: "sleep 600 (4711), …"
};

/// `unknown`: its process cannot be examined now, so no decision may be based on it.
enum class Liveness { none, starting, alive, dead, unknown };
inline constexpr NameRow<Liveness> k_livenesses[] = {
    {Liveness::none, "none"}, {Liveness::starting, "starting"}, {Liveness::alive, "alive"},
    {Liveness::dead, "dead"}, {Liveness::unknown, "unknown"},
};
static_assert(has_row_for_each<k_livenesses>());
constexpr std::string_view name_of(Liveness liveness) {
    return k_livenesses[static_cast<std::size_t>(liveness)].name;
}
/// True if the run is alive, or may be: then no second one may be started.
inline bool may_live(Liveness liveness) {
    return liveness == Liveness::alive || liveness == Liveness::unknown;
}

/// True if the server that answers is the one that the run's ids belong to: by its pid, and by its start time if both
/// are known.
template <class Answer>  // TmuxState or LastLines
bool is_on_server(const AgentRun& run, const Answer& state) {
    const bool same_start = run.server_start == 0 || state.server_start == 0 || run.server_start == state.server_start;
    return run.server_pid == state.server_pid && same_start;
}

enum class ServerOfRun {
    answers,  ///< the run's window may be there
    is_gone,  ///< the run ended because its server did
    unknown,  ///< another server has its socket, or it does not answer
};

/// The window of a run, as tmux knows it.
struct WindowOfRun {
    ServerOfRun server = ServerOfRun::unknown;
    std::optional<std::string> text{};  ///< its scrollback and screen; nothing if it is gone
};

/// Starts and ends agent processes: a spec file in the task's folder, a tmux window with the shim in it, and back.
/// Knows nothing of workflows; what a run is for is the caller's.
class Launcher {
  public:
    /// Returns the arguments of a process (process::argv_of; tests have their own processes).
    using ArgvOf = std::function<std::vector<std::string>(std::int64_t pid)>;

    Launcher(FileSystem& files, Tmux& tmux, ExitWatcher& exits, const Clock& clock, Path shim,
             ArgvOf argv_of = process::argv_of);

    /// Sets the source of the words that put a run into a scope of its own. If it is not set, runs have no scope.
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

    /// Returns true if the kernel holds the run and all that it starts to its limit of processes, as far as is known:
    /// in its control group, in its box, or as the words of its executor say.
    bool has_processes_limited(const AgentRun& run, const Path& run_folder) const;
    /// Returns the pid of the shim on the far side of an executor, if that is on this machine.
    std::optional<std::int64_t> inner_shim_of(const AgentRun& run, const Path& run_folder) const;

    /// Sets how long end() waits for a process to end before it kills the process.
    void set_patience(std::chrono::milliseconds patience) {
        patience_ = patience;
        server_patience_ = std::min(patience, server_patience_);
    }

    /// Opens the window and returns the run with all ids filled in. `run_folder` is the task's run/. After a timeout
    /// the run may have begun all the same (tmux was too slow, or its process cannot be examined); adopt() finds that
    /// out.
    Awaitable<Result<Started>> start(StartRequest request, Path run_folder);

    /// Finds a run that a timeout left behind, or a daemon that died in the middle of start(): by its spec file among
    /// the panes of Orange's tmux server. not_found if it never began; unavailable if tmux does not answer, or if a
    /// process cannot be examined.
    Awaitable<Result<AgentRun>> adopt(AgentRun run, Path run_folder);

    /// Saves the window's scrollback to `log`, kills the window and waits until its processes have ended; kills them if
    /// they do not end. Returns whether the window is closed now: false if its server does not answer.
    Awaitable<Result<bool>> end(AgentRun run, Path log);

    /// Returns the processes that an ended run has left. Empty if its shim has ended them together with its control
    /// group. Scans all processes; one scan serves all callers that come before it begins.
    Awaitable<std::vector<process::StrayProcess>> left_by(AgentRun run, Path run_folder);
    std::uint64_t looks_at_processes() const { return remains_.looks(); }

    /// After a death: saves what the window shows, closes it, removes the spec, and ends what is left in the run's
    /// control group. A shim that was killed has written nothing and ended nothing: what it left in its session or in
    /// `worktree` is ended here. `left`: of left_by(), since the death. `window`: of window_of(), asked just before.
    /// Returns how the run ended.
    Awaitable<RunEnd> reap(AgentRun run, Path run_folder, Path log, Path worktree,
                           std::vector<process::StrayProcess> left, WindowOfRun window);
    Awaitable<RunEnd> reap(AgentRun run, Path run_folder, Path log, Path worktree);

    Liveness liveness(const AgentRun& run) const;

    /// Makes a run whose shim is gone count as unknown until forgotten, because its executor cannot say whether the run
    /// continues.
    void set_unknown(const RunId& run) { unknown_.insert(run.value); }
    void forget_unknown(const RunId& run) { unknown_.erase(run.value); }

    /// Finds out whether the tmux server of a run that has ended still runs, and what the run's window shows. A server
    /// that answers now has outlived the run. A server that is ending closes its panes and stops answering before its
    /// process is gone: waits for that.
    Awaitable<WindowOfRun> window_of(AgentRun run);

    /// Returns the start time of the tmux server that the run's ids belong to, if that server still runs, even if it
    /// cannot be reached. nullopt if it does not run, or cannot be distinguished from a later process.
    std::optional<std::int64_t> server_start(const AgentRun& run) const;

    static Path spec_file(const Path& run_folder, const RunId& run) { return run_folder / (run.value + ".json"); }
    static Path exit_file(const Path& run_folder, const RunId& run) { return run_folder / (run.value + ".exit"); }
    static Path begun_file(const Path& run_folder, const RunId& run) {
        return orange::begun_file(exit_file(run_folder, run));
    }
    /// Returns the pid of the agent's program, as the shim in the window has written it once the program ran; nothing
    /// for a run in an executor. An agent can write that file, too.
    std::optional<std::int64_t> program_of(const Path& run_folder, const AgentRun& run) const;
    /// Removes the files of a run whose window has not been opened.
    void drop_files(const StartRequest& request, const Path& run_folder) const;
    /// Returns the folder that the far side of a run in an executor uses: the files of its shim there, and the agent's
    /// instructions.
    static Path inner_folder(const Path& run_folder, const RunId& run) { return run_folder / run.value; }
    /// Returns the folder in which a program may keep its conversations: one for all runs of the task, which a run in
    /// an executor writes to, too.
    static Path talk_folder(const Path& run_folder) { return run_folder / "talk"; }
    /// Reads a file that the far side writes, where an agent may write, too: at most 64 KiB.
    Result<std::string> read_inner(const Path& file) const;
    /// Returns the record of the shim in the window, or of the one on the far side; nothing if there is neither.
    std::optional<ExitRecord> exit_of(const Path& run_folder, const AgentRun& run) const;
    /// Returns what the shim on the far side has written when it began; nothing if there is none.
    std::optional<StartRecord> start_of(const Path& run_folder, const AgentRun& run) const;

  private:
    Result<void> write_specs(RunSpec& spec, const StartRequest& request, const Path& run_folder);
    bool keep_end(const AgentRun& run, const RunEnd& end, const Path& run_folder);
    Result<void> write_inner_spec(RunSpec& spec, const StartRequest& request, const Path& folder);
    Awaitable<WindowOfRun> look_at_window(AgentRun run);
    Awaitable<Result<void>> close_window(AgentRun run, WindowOfRun window, Path log);
    Awaitable<std::vector<std::string>> scope_for(AgentRun run);
    RunSpec spec_of(const StartRequest& request, const Path& run_folder) const;
    /// Opens the window of a run. Sets `new_session` to the name of its session, unless that existed before.
    Awaitable<Result<PaneRef>> open_window(const StartRequest& request, const Path& spec_path,
                                           std::string& new_session);
    Awaitable<std::string> end_group(AgentRun run, std::vector<process::StrayProcess> left);
    Path group_of(const AgentRun& run) const { return groups_ / process::scope_of_run(run.run.value); }

    FileSystem& files_;
    Tmux& tmux_;
    ExitWatcher& exits_;
    const Clock& clock_;
    Path shim_;
    ArgvOf argv_of_;
    Remains remains_;
    process::RunScopes* scopes_ = nullptr;
    std::set<std::string> unknown_;  ///< runs
    std::string scope_problem_;      ///< the problem that was logged last
    Path groups_ = process::groups_of_runs();
    // The shim gives its agent 5 s between HUP and KILL, and 2 s more for leftovers. If it takes longer, the shim
    // hangs.
    std::chrono::milliseconds patience_{9000};
    std::chrono::milliseconds server_patience_{2000};  ///< for a server that is ending
};

}  // namespace orange::agents
