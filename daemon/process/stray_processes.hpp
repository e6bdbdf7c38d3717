#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

/// Finds and ends left-over processes of an agent, or of a daemon that was killed. The shim and the daemon use the same
/// rules; each has its own way to wait.
namespace orange::process {

struct StrayProcess {
    std::int64_t pid = 0;
    std::int64_t start_time = 0;
};

/// Returns the processes whose working directory is in `place`, which may be a path through links.
std::vector<StrayProcess> working_in(const std::string& place);

/// Returns the left-over processes of the agent that this process has started. This process is a subreaper, so that no
/// double fork hides a descendant: returned are living descendants that are in its session, or work in `worktree`
/// (empty: none does). Processes that an agent started for general use and elsewhere do not count: a tmux server, a
/// gpg-agent. macOS has no subreapers, so a double fork hides descent there: it returns the processes that are in this
/// session, or work in the worktree with `run` in their environment.
std::vector<StrayProcess> left_by_own_agent(const std::string& worktree, const std::string& run);

/// Returns the left-over processes of a run whose shim was killed: those with `run` in their environment that are in
/// the shim's session or work in `worktree` (empty: none does).
std::vector<StrayProcess> left_by_run(const std::string& run, std::int64_t shim, const std::string& worktree);

/// Returns the processes that have `run` in their environment.
std::vector<StrayProcess> of_run(const std::string& run);

/// Returns the processes that an agent of that home has started, and that belong to none of `runs`.
std::vector<StrayProcess> of_ended_runs(const std::string& home, const std::set<std::string>& runs);

/// Lists processes for people, at most five: "sleep 600 (4711), …".
std::string shown(const std::vector<StrayProcess>& processes);

/// The variable that marks what a daemon runs in a workspace (setup commands, git): `<home>@<random id of this
/// daemon>`. A command with a mark of its own has `/` and a name behind that.
inline constexpr const char* k_daemon_variable = "ORANGE_DAEMON";

/// Returns the mark of one command of the daemon with that mark.
std::string mark_of_command(const std::string& mark);

/// Returns the processes of the command that has this mark, also those that a killed daemon of the same home has
/// started under the same name.
std::vector<StrayProcess> of_command(const std::string& mark);

/// Returns the left-over processes of killed daemons: those with a mark of the same home other than `own_mark` that
/// work in `worktree`, or are in the session of such a process. A home has one daemon at a time, so any other daemon of
/// it is dead.
std::vector<StrayProcess> left_by_daemons(const std::string& worktree, const std::string& own_mark);

/// Ends the processes that `find` returns: TERM, then after a second KILL for those that are left, with another second
/// to end.
class Ending {
  public:
    /// The pause between two calls of step().
    static constexpr std::chrono::milliseconds k_step{50};

    explicit Ending(std::function<std::vector<StrayProcess>()> find) : find_(std::move(find)), left_(find_()) {}
    /// The number of processes that refresh() or the constructor has found.
    std::size_t left() const { return left_.size(); }
    /// Sends the signals that are due. Returns false if no process is left, or if the last ones do not end.
    bool step();
    /// Searches again, because a process may start others when it gets TERM.
    void refresh() { left_ = find_(); }

  private:
    std::function<std::vector<StrayProcess>()> find_;
    std::vector<StrayProcess> left_;
    int steps_ = 0;
};

}  // namespace orange::process
