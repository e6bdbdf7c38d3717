#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/transitions.hpp"
#include "daemon/runner/waiting.hpp"

namespace orange {

/// Who has which workspace, as the tasks say (Pool::adopt_claims). If two say the same, the one that has not ended is
/// right: the other's end was not written down any more.
std::map<std::string, TaskId> claims_of(const store::TaskStore& tasks);

/// Workspaces outside transitions: those that tasks lack, those that should be free and are not (of tasks that ended
/// while their release failed; claims that a daemon left which died before it had written anything else down).
class Workspaces {
  public:
    Workspaces(World& world, AgentControl& agents, Turns& turns, Transitions& transitions, Waiting& waiting);

    /// Gives back workspaces of a project that no living task holds; those of tasks whose release had failed, too.
    /// Living tasks whose folder is gone get it anew. Returns what was done, or could not be.
    Awaitable<Result<std::vector<std::string>>> collect(Project project);

    /// Tries again to free the workspaces of tasks whose release was refused, where nobody works in them any more.
    Awaitable<void> release_left_over();

    /// In a turn of a task's that has ended, or waits for its sub-tasks: ends what is left of its agents, and gives its
    /// workspace back.
    Awaitable<Result<void>> release_owed(TaskRecord& record);

    /// In a turn of the task's: a workspace for one that has none, or whose folder is gone, for an agent to be started
    /// in. Saved at once.
    Awaitable<Result<void>> make_ready(TaskRecord& record, Outcome& outcome);

  private:
    /// Takes a workspace for a task that has none, and saves that.
    Awaitable<Result<void>> acquire(TaskRecord& record, Outcome& outcome);
    Awaitable<Result<void>> remake(TaskRecord& record);
    /// What was done, or why not; empty where nothing was to be done.
    Awaitable<std::string> make_anew(TaskId id);
    bool owes_release(const TaskRecord& record) const;
    bool has_its_folder(const TaskRecord& record) const;
    void tell_keeping(const TaskId& id, const Keeping& keeping);
    void tell_mended(const TaskId& id, const std::string& workspace, const git::Mended& mended);

    World& world_;
    AgentControl& agents_;
    Turns& turns_;
    Transitions& transitions_;
    Waiting& waiting_;
    std::map<TaskId, async::Moment> release_tried_;  ///< that failed
};

}  // namespace orange
