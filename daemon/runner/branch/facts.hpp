#pragma once

#include <optional>
#include <string>

#include "common/model/record.hpp"
#include "daemon/engine/facts.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Collects the facts that the gates on the ways out of the task's state name; with `to`, only of the way there. Called
/// in the task's turn. Runs no git if the gates name nothing. A fact that cannot be determined is marked as unknown
/// with the reason, and no gate that names it holds. A check that failed before `since` counts as not run.
Awaitable<engine::Facts> facts_of(World& world, const TaskRecord& record, const engine::Definition& definition,
                                  std::string to = {}, std::optional<Timestamp> since = {});

/// True once the task has had a workspace, so that its branch may hold its commits. Before that, the branch is only a
/// name, or existed before the task.
Result<bool> has_had_branch(World& world, const TaskRecord& record);

/// True if the task's branch has changes that its merge target does not have, as far as this machine knows. Fails if
/// the task had a branch that no longer exists.
Awaitable<Result<bool>> has_own_work(World& world, const TaskRecord& record);

}  // namespace orange
