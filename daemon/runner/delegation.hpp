#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/children.hpp"
#include "daemon/runner/queue.hpp"
#include "daemon/runner/transitions.hpp"

namespace orange {

/// Tasks that were split into sub-tasks: that a sub-task was done is written into its parent once, and stays, whatever
/// becomes of the sub-task; its human is told of those that need help or an approval; and when the workflow has a step
/// for the end of all of them, that is taken, once. Observes the store, whose index knows who is part of whom. What a
/// daemon did not come to is found again by the next one, from the records alone.
class Delegation {
  public:
    Delegation(World& world, Turns& turns, Transitions& transitions, Queue& queue);
    ~Delegation();
    Delegation(const Delegation&) = delete;
    Delegation& operator=(const Delegation&) = delete;

    /// At the start of a daemon.
    void look_at_all();
    /// Tries again what could not be written or found out.
    void retry();
    /// What has become of its sub-tasks, into the record of one task, and the step that follows.
    Awaitable<void> settle(TaskId id);

    /// Before a task is deleted: a deleted one says no longer that it was done.
    Awaitable<Result<void>> settle_parent_of(TaskId id);
    /// After it.
    void child_is_gone(const TaskId& parent);

    /// Starts what an agent has created and a human had to approve: the task, or its sub-tasks.
    Awaitable<Result<Outcome>> approve(TaskId id, Caller by);

  private:
    using History = Result<std::vector<HistoryEvent>>;
    void changed(const TaskId& id);
    void settle_soon(const TaskId& id);
    void settle_once(const TaskId& id);
    std::string seen_of(const TaskRecord& record) const;
    bool note_done(TaskRecord& record, const engine::Children& children);
    bool tell_unapproved(TaskRecord& record, const History& history, const engine::Children& children);
    bool tell_trouble(TaskRecord& record, const History& history, const engine::Definition& definition,
                      const engine::Children& children);
    static bool is_news(const History& history, const std::string& type, const std::string& children);
    Awaitable<void> go_on(TaskTurn& turn, const engine::Definition& definition, const engine::Children& children);
    void hindered(TaskRecord& record, const Error& why, bool tries_again);
    Awaitable<Result<void>> approve_one(TaskId id, Caller by);

    World& world_;
    Turns& turns_;
    Transitions& transitions_;
    Queue& queue_;
    int observer_;
    std::map<TaskId, std::string> seen_;  ///< what was looked at last, of tasks with sub-tasks
    std::set<TaskId> soon_;
    std::set<TaskId> left_;  ///< to be tried again
};

}  // namespace orange
