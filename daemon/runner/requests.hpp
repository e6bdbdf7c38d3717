#pragma once

#include "common/base/result.hpp"
#include "common/model/edit.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/runner/gates.hpp"
#include "daemon/runner/merges.hpp"
#include "daemon/runner/transitions.hpp"
#include "daemon/runner/workspaces.hpp"

namespace orange {

/// What people and agents ask of one task: to be moved, edited, acknowledged, deleted. Who may: engine/permissions.hpp.
class Requests {
  public:
    Requests(World& world, Turns& turns, Edits& edits, Transitions& transitions, Merges& merges, Workspaces& workspaces,
             Gates& gates, Waiting& waiting)
        : world_(world),
          turns_(turns),
          edits_(edits),
          transitions_(transitions),
          merges_(merges),
          workspaces_(workspaces),
          gates_(gates),
          waiting_(waiting) {}

    /// Moves a task: Transitions::request() in a turn of its own, after a merge that is not published is given up. If
    /// checks have to run first, they do, and after a while the answer is that they still run; then the task moves by
    /// itself (Gates).
    Awaitable<Result<Outcome>> move(TaskId id, engine::Request request, Caller by, Edit edit);

    /// Changes fields without a transition.
    Awaitable<Result<Outcome>> edit(TaskId id, Edit edit, Caller by);

    /// A human has seen what asked for attention.
    Awaitable<Result<Outcome>> acknowledge(TaskId id);

    /// Removes an ended task and its files.
    Awaitable<Result<Outcome>> remove(TaskId id, Caller by, bool force = false);

  private:
    /// Whether the task's workflow lets this caller do that now, sections apart.
    bool is_open(const TaskId& id, engine::Request request, const Caller& by);

    World& world_;
    Turns& turns_;
    Edits& edits_;
    Transitions& transitions_;
    Merges& merges_;
    Workspaces& workspaces_;
    Gates& gates_;
    Waiting& waiting_;
};

}  // namespace orange
