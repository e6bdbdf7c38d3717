#pragma once

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/definition.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/transitions.hpp"
#include "daemon/runner/workspaces.hpp"

namespace orange {

/// Agents that are dead, and are started again. Not a transition.
class Respawns {
  public:
    Respawns(World& world, Room& room, AgentControl& agents, Turns& turns, Transitions& transitions,
             Workspaces& workspaces)
        : world_(world),
          room_(room),
          agents_(agents),
          turns_(turns),
          transitions_(transitions),
          workspaces_(workspaces) {}

    /// Starts the dead agent of the task's state again, in its own conversation if that can be continued; `fresh`: in a
    /// new one.
    Awaitable<Result<Outcome>> respawn(TaskId id, Caller by, bool fresh = false);

    /// Ends a run that has done nothing yet and starts it in the same way once more: what its program asked for has
    /// changed. Nothing if that run is not there any more.
    Awaitable<Result<void>> start_over(TaskId id, RunId run);

    /// Ends the agents that run; nothing starts them again by itself. Not a crash.
    Awaitable<Result<Outcome>> stop(TaskId id);

    /// In a turn of the task's: the agent that its state needs, where it is not alive; which one that is.
    Awaitable<Result<Role>> start_again(TaskRecord& record, const engine::Definition& definition, bool fresh = false);

    /// Whether the role's agent died without Orange ending it and was not started again since, or does not run although
    /// the task's state wants it.
    bool is_dead(const TaskRecord& record, Role role) const;

    /// The tasks of which respawn() starts an agent that died. The worker of a task under review is started again after
    /// the review; that of one in `reviewing` is among them.
    std::vector<TaskId> with_dead_agents() const;

  private:
    World& world_;
    Room& room_;
    AgentControl& agents_;
    Turns& turns_;
    Transitions& transitions_;
    Workspaces& workspaces_;
};

}  // namespace orange
