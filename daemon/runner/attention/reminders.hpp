#pragma once

#include <optional>

#include "common/base/result.hpp"
#include "daemon/engine/next.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// Steps of the reconciler for agents that ended their turn and forgot to call orange. If an agent is idle in a status
/// that its own exit rule leads on from, Orange types exactly which command is missing (engine/reminder.hpp), twice.
/// Then the human gets the notice `agent_idle`, or with the setting `advance_idle` the rule is applied. Nothing is
/// typed while the task needs its human, while checks run, or soon after a human typed into the window. If a human's
/// draft stands in the prompt that the harness names, the notice is raised at once. If
/// Orange cannot read the agent's window, it types nothing either, and raises the notice when the agent has written
/// what the next status asks for.
namespace orange {

struct Runner;

/// Clears the notice that the agent is idle.
Awaitable<Result<void>> clear_idle(Turns& turns, TaskRecord& record);

/// Reminds the idle agent of what it has forgotten, or raises the notice. `record` is that of the task's turn. Returns
/// a Hold if the agent has forgotten nothing, or if it is too early.
Awaitable<Result<std::optional<engine::Hold>>> remind(Runner& runner, TaskRecord& record, engine::step::Remind step);

/// Returns how long agents of the task may be idle: the setting of the project, of the harness, or the default.
engine::IdleTimes idle_times(const World& world, const TaskRecord& record, Role role);

}  // namespace orange
