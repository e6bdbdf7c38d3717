#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Creates tasks: checks a new task, writes it, and starts it or puts it into the queue.
class Creation : Owner {
  public:
    using Owner::Owner;

    /// Creates a task in the workflow's initial state. Unless `no_spawn`, starts or queues it; if `record.start` is
    /// set, it starts in that state, which is entered at once if it needs no agent. Everything that can be refused is
    /// refused before anything is written. A daemon that is killed leaves no task, or a whole one.
    /// `files`: checked uploads that its agent gets.
    Awaitable<Result<Outcome>> create(TaskRecord record, std::string context, bool no_spawn, Caller by,
                                      std::vector<std::string> files = {});

    /// Writes a task that is complete and checked, with the body of its TASK.md, and puts it into the queue. Starts
    /// nothing. conflict if another task has its branch.
    Result<void> write_queued(TaskRecord record, std::string body);

    /// Writes the event `task.created` if the history is empty. A daemon that was killed after it had written the task
    /// leaves this call to the next one.
    Result<void> tell_created(const TaskRecord& record);

  private:
    Result<void> write(TaskRecord& record, std::string body, const std::vector<std::string>& files);
    Awaitable<Result<Outcome>> enter_at_once(TaskId id, workflow::Library::DefinitionPtr definition);
};

}  // namespace orange
