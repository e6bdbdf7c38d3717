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
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/queue_order.hpp"
#include "daemon/runner/room.hpp"
#include "daemon/runner/transitions.hpp"
#include "daemon/runner/waiting.hpp"

namespace orange {

/// What waits for its start: pending tasks and those whose sub-tasks are done, each project's first in, first out,
/// until there are a workspace and room for their agent; and agents of tasks that have begun, until there is room for
/// them (room.hpp, queue_order.hpp). Nothing here holds a task's lock while it waits for another's.
class Queue final : public Waiting {
  public:
    Queue(World& world, Room& room, Turns& turns, AgentControl& agents, Transitions& transitions)
        : world_(world), room_(room), turns_(turns), agents_(agents), transitions_(transitions) {}
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    /// Starts a pending task now, or puts it into its project's queue.
    Awaitable<Result<Outcome>> spawn(TaskId id, Caller by);

    /// Starts what an agent has created and a human had to approve: the task, or its sub-tasks.
    Awaitable<Result<Outcome>> approve(TaskId id, Caller by);

    /// Puts a record, which the caller saves, behind everything that waits.
    void enqueue(TaskRecord& record);
    /// Runs the queue that a new task was put into, and says what became of its start.
    Awaitable<Outcome> run_for(TaskId id, std::string project);
    /// A sentence about its place.
    std::string waits(const TaskRecord& record) const;

    void kick(const std::string& project) override;
    /// The same, awaited.
    Awaitable<void> run(std::string project);
    bool is_starting(const TaskId& id) const override { return preparing_.contains(id); }

    /// There may be more room, or somebody waits who did not: looks soon whose turn it is. Pending tasks that a limit
    /// has held back are started; `on_room` gets each task whose agents may start. Every save of a task calls it.
    void room_changed();
    void on_room(std::function<void(const TaskId&)> observer) { has_room_now_ = std::move(observer); }
    /// Returns true if the task's agents that wait for room may start, as of the last look.
    bool has_room(const TaskId& id) const { return having_room_.contains(id); }
    /// Starts the agents of a task that has begun, as far as there is room. `record` is that of the task's turn. What
    /// fails and may succeed later is an error; of everything else the human is told.
    Awaitable<Result<void>> start_held(TaskRecord& record);

    /// Tries queues again that stand still because their repository did not answer or the disk was full.
    Awaitable<void> restart_stalled();

  private:
    class Preparing;

    /// Starts of one turn of the queue that have not ended.
    struct Starts {
        explicit Starts(const async::Executor& executor) : ended(executor) {}
        int under_way = 0;
        async::Notifier ended;
    };

    Awaitable<void> run_held_back();
    void begin_due(const queue::Snapshot& look, const std::function<bool(const TaskRecord&)>& wanted,
                   const std::shared_ptr<Starts>& starts);
    void begin(const TaskId& id, const std::shared_ptr<Starts>& starts);
    Awaitable<Result<void>> approve_one(TaskId id, Caller by);
    bool is_next(const TaskRecord& record) const;
    Awaitable<Result<Outcome>> start_pending(TaskRecord record, Caller by);
    Awaitable<Result<Outcome>> start_now(TaskRecord record, Caller by);
    Awaitable<void> run_soon(std::string project);
    Awaitable<bool> repository_answers(std::string project);
    Awaitable<void> start_queued(TaskId id, std::shared_ptr<Starts> starts);
    Awaitable<void> look_again();
    Result<void> note_failure(TaskRecord& record, Role role, const Error& why);
    /// A task whose start has failed leaves the queue, or waits until what hinders all of them is over. The project
    /// whose next task may be started in its place, if there is one.
    Awaitable<std::optional<std::string>> note_failure(TaskId id, Error why);
    std::string command_to_try_again(const TaskRecord& record) const;

    World& world_;
    Room& room_;
    Turns& turns_;
    AgentControl& agents_;
    Transitions& transitions_;
    std::function<void(const TaskId&)> has_room_now_ = [](const TaskId&) {};
    std::map<TaskId, Outcome> starts_;  ///< of tasks that run_for() waits for
    std::set<std::string> stalled_;     ///< projects whose queue stands still: no task of theirs could be started
    std::set<TaskId> preparing_;        ///< pending tasks whose start is under way
    std::set<TaskId> held_back_;        ///< pending tasks that would start but for a limit
    std::set<TaskId> having_room_;      ///< tasks that have begun and whose agents may start, as of the last look
    bool looking_again_ = false;
    std::int64_t next_seq_ = 0;
};

}  // namespace orange
