#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/definition.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Starts dead agents again, and stops living ones. Neither is a transition.
class Respawns : Owner {
  public:
    using Owner::Owner;

    /// Starts the dead agent of the task's state again, in its own conversation if that can be continued; with `fresh`
    /// in a new one.
    Awaitable<Result<Outcome>> respawn(TaskId id, Caller by, bool fresh = false);

    /// Ends a run that has done nothing yet and starts it in the same way once more, because the answer to what its
    /// program asked for has changed. Does nothing if the run no longer exists.
    Awaitable<Result<void>> start_over(TaskId id, RunId run);

    /// Ends the running agents. They are not started again automatically, and this counts as no crash.
    Awaitable<Result<Outcome>> stop(TaskId id);

    /// Starts the agent that the task's state needs, and returns its role. Called in the task's turn. conflict if it is
    /// alive.
    Awaitable<Result<Role>> start_again(TaskRecord& record, const engine::Definition& definition, bool fresh = false);

    /// True if the role's agent died without Orange ending it and was not started again, or if it does not run although
    /// the task's state needs it.
    bool is_dead(const TaskRecord& record, Role role) const;

    /// Returns the tasks with a dead agent that respawn() would start, or say why it cannot. A dead worker does not
    /// count while the task's state needs the reviewer.
    std::vector<TaskId> with_dead_agents() const;

  private:
};

}  // namespace orange
