#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/runner/queue_order.hpp"
#include "daemon/runner/requests.hpp"
#include "daemon/runner/transitions.hpp"
#include "daemon/runner/waiting.hpp"

namespace orange {

/// Each project's queue: a pending task waits in it until a workspace is free, first in, first out (queue_order.hpp).
/// Nothing here holds a task's lock while it waits for another's.
class Queue final : public Waiting {
  public:
    Queue(World& world, Turns& turns, Transitions& transitions, Requests& requests)
        : world_(world), turns_(turns), transitions_(transitions), requests_(requests) {}

    /// Starts a pending task now, or puts it into its project's queue.
    Awaitable<Result<Outcome>> spawn(TaskId id, Caller by);

    /// Puts a record, which the caller saves, behind everything that waits.
    void enqueue(TaskRecord& record);
    /// Runs the queue that a new task was put into, and says what became of its start.
    Awaitable<Outcome> run_for(TaskId id, std::string project);
    /// A sentence about its place.
    std::string waits(const TaskRecord& record) const;

    void kick(const std::string& project) override;
    /// The same, awaited.
    Awaitable<void> run(std::string project);
    bool is_starting(const TaskId& id) const override { return starting_.contains(id); }

    /// Tries queues again that stand still because their repository did not answer or the disk was full.
    Awaitable<void> restart_stalled();

  private:
    /// Starts of one turn of the queue that have not ended.
    struct Starts {
        explicit Starts(const async::Executor& executor) : ended(executor) {}
        int under_way = 0;
        async::Notifier ended;
    };

    queue::Look look(const Project& project) const;
    bool is_next(const TaskRecord& record) const;
    Awaitable<Result<Outcome>> start_pending(TaskRecord record, Caller by);
    Awaitable<Result<Outcome>> start_now(TaskRecord record, Caller by);
    Awaitable<void> run_soon(std::string project);
    Awaitable<bool> repository_answers(std::string project);
    Awaitable<void> start_queued(TaskId id, std::shared_ptr<Starts> starts);
    /// A task whose start has failed leaves the queue, or waits until what hinders all of them is over. The project
    /// whose next task may be started in its place, if there is one.
    Awaitable<std::optional<std::string>> note_failure(TaskId id, Error why);

    World& world_;
    Turns& turns_;
    Transitions& transitions_;
    Requests& requests_;
    std::map<TaskId, Outcome> starts_;  ///< of tasks that run_for() waits for
    std::set<std::string> stalled_;     ///< projects whose queue stands still: no task of theirs could be started
    std::set<TaskId> starting_;         ///< tasks whose start is under way
    std::int64_t next_seq_ = 0;
};

}  // namespace orange
