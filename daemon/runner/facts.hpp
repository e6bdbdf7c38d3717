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

}  // namespace orange
