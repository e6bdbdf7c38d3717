#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/queue.hpp"
#include "daemon/runner/transitions.hpp"

namespace orange {

/// How a task begins to exist.
class Creation {
  public:
    Creation(World& world, Turns& turns, Transitions& transitions, Queue& queue)
        : world_(world), turns_(turns), transitions_(transitions), queue_(queue) {}

    /// Creates a task in the workflow's initial state and, unless `no_spawn`, starts it (or queues it): in
    /// `record.start` where that is set. A state that needs no agent is entered at once. Everything that can be refused
    /// is refused before anything is written; a daemon that is killed leaves no task, or a whole one.
    Awaitable<Result<Outcome>> create(TaskRecord record, std::string context, bool no_spawn, Caller by);

    /// Once, however often it is tried: a daemon that died right after it had written the task leaves it to the next.
    Result<void> tell_created(const TaskRecord& record);

  private:
    Awaitable<Result<Outcome>> enter_at_once(TaskId id, workflow::Library::DefinitionPtr definition);

    World& world_;
    Turns& turns_;
    Transitions& transitions_;
    Queue& queue_;
};

}  // namespace orange
