#pragma once

#include <map>
#include <optional>
#include <set>

#include "daemon/engine/reminder.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// Agents that ended their turn and forgot to tell Orange. One that is idle in a status that its own exit rule leads on
/// from is told exactly which command is missing (engine/reminder.hpp), twice; then its human is (notice `agent_idle`),
/// or with the setting `advance_idle` the rule is applied. Nothing is typed while the task needs its human, while
/// checks run, soon after a human typed into the window, or over a human's draft. If Orange cannot read the agent's
/// window, it types nothing either, and tells the human when the agent has written what the next status asks for.
///
/// It is told of every change of an agent's activity and of every saved task, and wakes up only when something is due.
class Reminders {
  public:
    explicit Reminders(Runner& runner);
    ~Reminders();
    Reminders(const Reminders&) = delete;
    Reminders& operator=(const Reminders&) = delete;

    void stop() { stopped_ = true; }

    /// Does what is due for the task now; when to look again, if nothing changes before. Called by itself; by tests.
    Awaitable<std::optional<Timestamp>> attend(TaskId id);

  private:
    void changed(const TaskId& id);
    Awaitable<void> keep_attending(TaskId id);
    /// Returns what the task's agent does, and since when, if it is idle or Orange cannot see what it does. Nothing
    /// else, nor for a task that waits for something other than its agent.
    std::optional<AgentActivity> idle_agent(const TaskRecord& record) const;
    engine::IdleTimes times_for(const TaskRecord& record, Role role) const;
    Awaitable<std::optional<Timestamp>> human_at(const TaskRecord& record);
    Awaitable<bool> has_draft(const TaskRecord& record, Role role);
    /// Since when TASK.md and the task have been as they are, as far as this daemon knows.
    Timestamp unchanged_since(const TaskRecord& record);
    void tell_of_handover(TaskRecord& record, Role role, const engine::Handover& handover, std::chrono::seconds time);
    Awaitable<void> remind(TaskTurn& turn, Role role, std::string text);
    Awaitable<void> give_up(TaskTurn turn, workflow::Library::DefinitionPtr definition, Stepped stepped, Role role,
                            std::string text);

    Runner& runner_;
    World& world_;
    int observer_;
    bool stopped_ = false;
    std::set<TaskId> attending_;          ///< a keep_attending() runs
    std::set<TaskId> changed_meanwhile_;  ///< and something changed since it looked
    std::map<TaskId, async::Stopper> alarms_;
    struct Body {
        std::string hash;
        Timestamp since{};
    };
    std::map<TaskId, Body> bodies_;  ///< of tasks whose agent's window cannot be read
};

}  // namespace orange
