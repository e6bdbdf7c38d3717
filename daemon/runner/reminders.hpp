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
/// checks run, soon after a human typed into the window, or over a human's draft.
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
    /// In what the task's agent is idle, and since when; nothing if it is not, or is not to be reminded.
    std::optional<AgentActivity> idle_agent(const TaskRecord& record) const;
    engine::IdleTimes times_for(const TaskRecord& record, Role role) const;
    Awaitable<std::optional<Timestamp>> human_at(const TaskRecord& record);
    Awaitable<bool> has_draft(const TaskRecord& record, Role role);
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
};

}  // namespace orange
