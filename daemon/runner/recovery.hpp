#pragma once

#include "common/model/record.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/creation.hpp"
#include "daemon/runner/gates.hpp"
#include "daemon/runner/merges.hpp"
#include "daemon/runner/transitions.hpp"

namespace orange {

/// What a daemon that ended, or a tmux that did not answer, left in the middle of a task.
class Recovery {
  public:
    Recovery(World& world, AgentControl& agents, Turns& turns, Transitions& transitions, Merges& merges, Gates& gates,
             Creation& creation)
        : world_(world),
          agents_(agents),
          turns_(turns),
          transitions_(transitions),
          merges_(merges),
          gates_(gates),
          creation_(creation) {}

    /// At start: finishes an interrupted transition or merge, goes on with one that waits for checks, adopts what was
    /// being started.
    Awaitable<void> resume(TaskId id);

    /// Finds out what became of agents that were being started when tmux did not answer.
    Awaitable<void> settle_starting(TaskId id);

  private:
    World& world_;
    AgentControl& agents_;
    Turns& turns_;
    Transitions& transitions_;
    Merges& merges_;
    Gates& gates_;
    Creation& creation_;
};

}  // namespace orange
