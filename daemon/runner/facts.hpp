#pragma once

#include <optional>
#include <string>

#include "common/model/record.hpp"
#include "daemon/engine/facts.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Finds out, in a turn of the task's, what the gates on the ways out of its state name; `to`: those of the way there
/// alone. Nothing is asked of git if they name nothing. What cannot be found out is told in the result, and no gate
/// that names it holds. A check that failed before `since` counts as one that did not run.
Awaitable<engine::Facts> facts_of(World& world, const TaskRecord& record, const engine::Definition& definition,
                                  std::string to = {}, std::optional<Timestamp> since = {});

/// Whether the task's branch is its own by now, which it is since the task had a workspace: not just a name, and not
/// one that is there for it to begin with.
Result<bool> has_had_branch(World& world, const TaskRecord& record);

/// Whether the task's branch has work that the branch into which it is merged has not, as that is known here. An error
/// if it had a branch and has none.
Awaitable<Result<bool>> has_own_work(World& world, const TaskRecord& record);

}  // namespace orange
