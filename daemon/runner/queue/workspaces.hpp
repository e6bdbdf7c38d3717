#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Returns the workspaces that tasks claim in their records, for Pool::adopt_claims. If two tasks claim the same one,
/// the task that has not ended is right: the release of the other was not saved.
std::map<std::string, TaskId> claims_of(const store::TaskStore& tasks);

/// The claims that may be freed although their tasks have not ended.
enum class Freeing {
    known_lost,  ///< of tasks that this daemon has loaded without a workspace, or has deleted
    all,         ///< also of tasks that it does not know: a human says that there are none
};

/// Workspaces outside of transitions. Gives workspaces to tasks that need one, and releases those that should be free:
/// of tasks that ended while their release failed, and of a daemon that died before it had saved more than its claim.
class Workspaces : Owner {
  public:
    explicit Workspaces(Runner& runner);

    /// Releases the workspaces of a project that no living task holds, also those whose release had failed. Makes the
    /// folders of living tasks again if they are gone. Returns what was done, or could not be done.
    Awaitable<Result<std::vector<std::string>>> collect(Project project, Freeing freeing = Freeing::all);

    /// Tries again to release workspaces whose release was refused, if no process works in them any more. Frees those
    /// whose claim outlived a start that failed, because .pool.json could not be written then.
    Awaitable<void> release_left_over();
    /// Notes that the task's folder was deleted: a claim that it still has is nobody's.
    void note_deleted(const TaskId& id);

    /// Takes from a task whose folder has come back what it had by its record, and has no more: a workspace that was
    /// freed since, and the agents in it.
    Awaitable<void> forget_lost(TaskId id);

    /// Ends the rest of a task's agents, and releases its workspace. Called in a turn of a task that has ended or waits
    /// for its sub-tasks.
    Awaitable<Result<void>> release_owed(TaskRecord& record);

    /// Gives a workspace to a task that has none, or whose folder is gone, for an agent to be started in. Called in the
    /// task's turn. Saves at once.
    Awaitable<Result<void>> make_ready(TaskRecord& record, Outcome& outcome);

  private:
    /// Takes a workspace for a task that has none, and saves that.
    Awaitable<Result<void>> acquire(TaskRecord& record, Outcome& outcome);
    Awaitable<Result<void>> remake(TaskRecord& record);
    /// Returns what was done, or why it failed; empty if nothing had to be done.
    Awaitable<std::string> make_anew(TaskId id);
    bool owes_release(const TaskRecord& record) const;
    /// False if a workspace that is claimed for the task is not its own.
    bool may_hold(const TaskId& id, const std::string& project) const;
    bool is_lost(const TaskId& id, const std::string& project) const;
    bool was_just_tried(const TaskId& id) const;
    void note_try(const TaskId& id);
    Awaitable<void> free_lost_claims(const std::vector<WorkspaceInfo>& all);
    Awaitable<void> forget_given_back();
    bool has_its_folder(const TaskRecord& record) const;
    void tell_keeping(const TaskId& id, const Keeping& keeping);
    Awaitable<Result<std::vector<std::string>>> behind_wall(TaskId id, git::Pinned worktree,
                                                            std::vector<std::string> argv);
    void on_restored(const TaskId& id, const std::string& workspace, const git::RestoredFile& mended);

    std::map<TaskId, async::Moment> release_tried_;  ///< the last failed tries
    std::set<TaskId> deleted_;                       ///< by this daemon, with a claim that could not be given back
};

}  // namespace orange
