#pragma once

#include <set>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/turns.hpp"
#include "daemon/runner/waiting.hpp"

namespace orange {

/// Starts tasks that waited for others: when a task has ended, those that wait for it are looked at. That a blocker was
/// done is written into the waiting task once, and stays, whatever becomes of the blocker; when nothing is open any
/// more, the queue starts the task. Observes the store; its index knows who waits for whom. What a daemon did not come
/// to is found again by the next one, from the records alone.
class Dependencies {
  public:
    Dependencies(World& world, Turns& turns, Waiting& waiting);
    ~Dependencies();
    Dependencies(const Dependencies&) = delete;
    Dependencies& operator=(const Dependencies&) = delete;

    /// At the start of a daemon.
    void look_at_all();
    /// Tries again what could not be written.
    Awaitable<void> retry();

    /// What one task waits for, as it is now, into its record.
    Awaitable<void> settle(TaskId id);
    /// All that wait for this one, before it is deleted: a deleted task says no longer that it was done.
    Awaitable<Result<void>> settle_waiting_for(TaskId id);

  private:
    void changed(const TaskId& id);
    void settle_soon(const TaskId& id);
    Awaitable<void> settle_once(TaskId id);
    void tell_gone(TaskRecord& record, const std::vector<TaskId>& gone);
    bool is_told(const TaskId& id, const TaskId& gone) const;

    World& world_;
    Turns& turns_;
    Waiting& waiting_;
    int observer_;
    std::set<TaskId> soon_;
    std::set<TaskId> left_;  ///< could not be written
};

}  // namespace orange
