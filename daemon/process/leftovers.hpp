#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

/// Processes that are left over from an agent, or from a daemon that was killed: who counts as one, and how they are
/// ended. The shim and the daemon do it by the same rules; each waits in its own way.
namespace orange::process {

struct Leftover {
    std::int64_t pid = 0;
    std::int64_t start_time = 0;
};

/// Whoever has its working directory in `place`, which may lead there through links.
std::vector<Leftover> working_in(const std::string& place);

/// Of the agent of this process: its living descendants (it is their subreaper, so that no double fork hides one) that
/// are in its session, or work in `worktree` (empty: none does). Not what an agent started for everybody, elsewhere: a
/// tmux server, a gpg-agent. Without subreapers (macOS) descent is lost with a double fork: there it is who is in this
/// session, or works in the worktree with `run` in its environment.
std::vector<Leftover> left_by_own_agent(const std::string& worktree, const std::string& run);

/// Of a run whose shim was killed: who has `run` in its environment, and is in the shim's session or works in
/// `worktree` (empty: none does).
std::vector<Leftover> left_by_run(const std::string& run, std::int64_t shim, const std::string& worktree);

/// Returns the processes that have `run` in their environment.
std::vector<Leftover> of_run(const std::string& run);

/// Returns the processes that an agent of that home has started, and that belong to none of `runs`.
std::vector<Leftover> of_ended_runs(const std::string& home, const std::set<std::string>& runs);

/// "sleep 600 (4711), …", for people; at most five of them.
std::string shown(const std::vector<Leftover>& processes);

/// The variable of what a daemon runs in a workspace (setup commands, git): its mark, `<home>@<one of its life>`.
inline constexpr const char* k_daemon_variable = "ORANGE_DAEMON";

/// Of daemons that were killed: who has the mark of another daemon of the same home than `own_mark`, and works in
/// `worktree` or is in the session of one that does. Only one daemon has a home, so that another one's git or setup
/// command is nobody's.
std::vector<Leftover> left_by_daemons(const std::string& worktree, const std::string& own_mark);

/// Ends what `find` finds: TERM, a second for their end, then KILL to all that are left, for another second.
class Ending {
  public:
    /// The pause that its user makes between two steps.
    static constexpr std::chrono::milliseconds k_step{50};

    explicit Ending(std::function<std::vector<Leftover>()> find) : find_(std::move(find)), left_(find_()) {}
    /// The number of processes that refresh() or the constructor has found.
    std::size_t left() const { return left_.size(); }
    /// Signals the processes for which it is time. Returns false if none is left, or if they do not end.
    bool step();
    /// Searches again, because a process that is told to end may start others first.
    void refresh() { left_ = find_(); }

  private:
    std::function<std::vector<Leftover>()> find_;
    std::vector<Leftover> left_;
    int steps_ = 0;
};

}  // namespace orange::process
