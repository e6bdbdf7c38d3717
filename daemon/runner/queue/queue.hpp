#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/runner/queue/queue_order.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Starts what waits for its start. Pending tasks, and tasks whose sub-tasks are done, wait in their project's queue,
/// the oldest first (one that does not fit is passed over), for a workspace and for room for their agent. Agents of
/// tasks that have begun wait for room under a limit (capacity.hpp, queue_order.hpp).
///
/// There are two verbs: to *look* is to take a snapshot of what waits and of what is free, and to begin what is due; to
/// *start* is to take one task into its first state of work, or to give an agent that waited its room. A look begins
/// its starts side by side and each under its own task's lock. schedule() and room_changed() look soon; look() and
/// look_for() wait until the starts have ended.
///
/// A task that can never start leaves the queue with a notice. If all would fail (a full disk, no descriptors, a
/// repository that does not answer), all keep their places and the project is tried again. No function holds a task's
/// lock while it waits for another one's.
class Queue : Owner {
  public:
    using Owner::Owner;

    /// Starts a pending task now, or puts it into its project's queue.
    Awaitable<Result<Outcome>> spawn(TaskId id, Caller by);

    /// Approves and starts what an agent has created and a human has to approve: the task, or its sub-tasks.
    Awaitable<Result<Outcome>> approve(TaskId id, Caller by);

    /// Puts a record behind everything that waits. The caller saves the record.
    void enqueue(TaskRecord& record);
    /// Looks at the queue that a new task was put into, and returns the outcome of its start.
    Awaitable<Outcome> look_for(TaskId id, std::string project);
    /// Returns a sentence about what the task waits for.
    std::string waits(const TaskRecord& record) const;

    /// Starts queued tasks of a project soon, the oldest first, as workspaces and limits allow. It is an order of
    /// whoever has made a start possible: a freed workspace alone starts nothing, and a cancel deliberately does not
    /// give it.
    void schedule(const std::string& project);
    /// Starts what is due in the project's queue now, and returns when these starts have ended.
    Awaitable<void> look(std::string project);
    bool is_starting(const TaskId& id) const { return preparing_.contains(id); }

    /// Says that there may be more room, or that another agent waits. Soon afterwards the pending tasks that a limit
    /// has held back are started, and the observer of on_room() gets each task whose agents may start. Every save of a
    /// task calls it.
    void room_changed();
    void on_room(std::function<void(const TaskId&)> observer) { has_room_now_ = std::move(observer); }
    /// Returns true if the task's agents that wait for room may start, as of the last look.
    bool has_room(const TaskId& id) const { return having_room_.contains(id); }
    /// Starts the agents of a task that has begun, as far as there is room. `record` is that of the task's turn. A
    /// failure that may pass is returned, so that the start is tried again; any other failure becomes a notice.
    Awaitable<Result<void>> start_held(TaskRecord& record);

    /// Looks at queues again that stopped because their repository did not answer or the disk was full.
    Awaitable<void> restart_stalled();

  private:
    class Preparing;

    /// The starts of one look that have not ended.
    struct Starts {
        explicit Starts(const async::Executor& executor) : ended(executor) {}
        int under_way = 0;
        async::Wakeup ended;
    };

    Awaitable<void> look_at_held_back();
    Awaitable<void> look_soon(std::function<Awaitable<void>()> look);
    std::shared_ptr<Starts> start_due(const queue::Snapshot& look,
                                      const std::function<bool(const TaskRecord&)>& wanted);
    Awaitable<Result<void>> approve_one(TaskId id, Caller by);
    bool is_next(const TaskRecord& record) const;
    Awaitable<Result<Outcome>> start_pending(TaskRecord record, Caller by);
    Awaitable<bool> repository_answers(std::string project);
    Awaitable<void> start_queued(TaskId id, std::shared_ptr<Starts> starts);
    Result<void> note_failure(TaskRecord& record, Role role, const Error& why);
    /// Removes a task whose start has failed from the queue, or lets it wait if the cause affects all tasks. Returns
    /// the project whose next task may be started instead, if there is one.
    Awaitable<std::optional<std::string>> note_failure(TaskId id, Error why);
    std::string command_to_try_again(const TaskRecord& record) const;

    std::function<void(const TaskId&)> has_room_now_ = [](const TaskId&) {};
    std::map<TaskId, Outcome> starts_;  ///< outcomes for the tasks that look_for() waits for
    std::set<std::string> stalled_;     ///< projects whose queue stopped, since no task of theirs could be started
    std::set<TaskId> preparing_;        ///< pending tasks whose start is under way
    std::set<TaskId> held_back_;        ///< pending tasks that only a limit holds back
    std::set<TaskId> having_room_;      ///< tasks that have begun and whose agents may start, as of the last look
    bool looking_again_ = false;
    std::int64_t next_seq_ = 0;
};

}  // namespace orange
