#pragma once

#include "daemon/runner/world.hpp"

namespace orange {

/// Opens the worktree of a task that has a workspace, for git to be run in; see Pool::open().
Awaitable<Result<git::Pinned>> open_worktree(World& world, const TaskRecord& record);

/// Returns the place of TASK.md for the task's agents. nullopt if the task has no workspace, or if its folder is not
/// the one that Orange made: the folder that is there now belongs to a person.
std::optional<Path> mirror_of(const World& world, const TaskRecord& record);

/// Returns the places of the task's own TASK.md and of that mirror.
store::Copies copies_of(const World& world, const TaskRecord& record);

}  // namespace orange
