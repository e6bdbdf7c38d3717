#pragma once

#include "common/base/result.hpp"
#include "common/model/edit.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Handles what people and agents ask of one task: to move, edit, acknowledge or delete it. engine/permissions.hpp
/// decides who may.
class Requests : Owner {
  public:
    using Owner::Owner;

    /// Gives up a merge that is not published, and moves the task with Transitions::request() in a turn of its own. If
    /// checks have to run first, waits for them for a while. Then the answer is that they still run, and the task moves
    /// by itself (Gates).
    Awaitable<Result<Outcome>> move(TaskId id, engine::Request request, Caller by, Edit edit);

    /// Changes fields without a transition.
    Awaitable<Result<Outcome>> edit(TaskId id, Edit edit, Caller by);

    /// Acknowledges all notices and alarms of the task: a human has seen them.
    Awaitable<Result<Outcome>> acknowledge(TaskId id);

    /// Removes an ended task and its files, also if its record cannot be read. needs_force if the task has not ended,
    /// or if it is not known whether the task has ended.
    Awaitable<Result<Outcome>> remove(TaskId id, Caller by, bool force = false);

  private:
    /// True if the task's workflow allows this human's request now, apart from sections.
    bool is_open(const TaskId& id, engine::Request request, const Caller& by);
    Result<void> remove_folder(const TaskId& id, const std::string& project, const Caller& by);
    Awaitable<Result<Outcome>> remove_unread(TaskId id, Caller by);
};

}  // namespace orange
