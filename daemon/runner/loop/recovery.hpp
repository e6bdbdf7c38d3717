#pragma once

#include "common/model/record.hpp"
#include "daemon/runner/agents/agent_control.hpp"
#include "daemon/runner/checks/gates.hpp"
#include "daemon/runner/merging/merges.hpp"
#include "daemon/runner/transitions/creation.hpp"
#include "daemon/runner/transitions/transitions.hpp"

namespace orange {

/// Resumes tasks that were left in the middle of a step by a daemon that ended, or by a tmux that did not answer.
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

    /// Called for each task when the daemon starts: finishes an interrupted transition or merge, continues a transition
    /// that waits for checks, and adopts agents that were being started.
    Awaitable<void> resume(TaskId id);

    /// Adopts or forgets agents that were being started when tmux did not answer.
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
