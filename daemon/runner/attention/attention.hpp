#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/engine/needs.hpp"
#include "daemon/engine/next.hpp"
#include "daemon/engine/notices.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// The needs of tasks: what the human has to do, and how the human is told.
///
/// Code that finds a problem raises a *notice* in the task's record, and clears it when the cause has ended. What a
/// task needs and which keys it shows is decided by the engine (engine/needs.hpp, engine/offers.hpp); needs_of() and
/// offers_of() tell it which agents are alive. The step Notify of the loop hands over to Notifier what is new, and
/// Delivery (notification.hpp) sends it: a command, the desktop, terminals. The program `reply` may answer with a token
/// (replies.hpp). An agent that forgot to call orange is reminded before its human is.
namespace orange {

using engine::clear;

/// Raises a notice with the current time. `text` says what happened; its first line is a sentence of its own. `command`
/// is what to run; empty if that depends on the task's state (engine/needs.hpp). The caller saves the record.
void raise(const World& world, TaskRecord& record, NoticeKind kind, std::string text, std::string command = {},
           std::string cause = {});

/// Returns the command in the last line of a text ("\n  orange …"): to repeat what failed would fail again. Else
/// returns the other one.
std::string way_out_of(std::string_view text, std::string otherwise = {});

/// Returns the notices of a record and those that follow from its other fields: the changed programs and harnesses.
std::vector<Notice> all_notices(const TaskRecord& record);

/// Looks which repositories are missing, for needs_of(). A disk that does not answer may hold this up, so only the poll
/// calls it, and who has just seen git fail.
void look_for_repositories(Runner& runner);

/// Returns engine::needs_of() for what the runner knows of the task's agents and its place in the queue. No I/O.
Needs needs_of(const Runner& runner, const TaskRecord& record);

/// Returns engine::offers_of() in the same way. `needs` is the result of needs_of(). No I/O.
std::vector<std::string> offers_of(const Runner& runner, const TaskRecord& record, const Needs& needs);

// Steps of the reconciler for agents that ended their turn and forgot to call orange. If an agent is idle in a status
// that its own exit rule leads on from, Orange types exactly which command is missing (engine/reminder.hpp), twice.
// Then the human gets the notice `agent_idle`, or with the setting `advance_idle` the rule is applied. Nothing is
// typed while the task needs its human, while checks run, or soon after a human typed into the window. If a human's
// draft stands in the prompt that the harness names, the notice is raised at once. If
// Orange cannot read the agent's window, it types nothing either, and raises the notice when the agent has written
// what the next status asks for.

/// Clears the notice that the agent is idle.
Awaitable<Result<void>> clear_idle(Turns& turns, TaskRecord& record);

/// Reminds the idle agent of what it has forgotten, or raises the notice. `record` is that of the task's turn. Returns
/// a Hold if the agent has forgotten nothing, or if it is too early.
Awaitable<Result<std::optional<engine::Hold>>> remind(Runner& runner, TaskRecord& record, engine::step::Remind step);

/// Returns how long agents of the task may be idle: the setting of the project, of the harness, or the default.
engine::IdleTimes idle_times(const World& world, const TaskRecord& record, Role role);

}  // namespace orange
