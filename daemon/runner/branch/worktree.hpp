#pragma once

#include "daemon/runner/world.hpp"

namespace orange {

/// Says what becomes of commits in an agent's own repository that git or the wall refuse: who decides by the commits
/// needs all of them; who only looks sees those that were taken over last.
enum class Commits { as_far_as_taken_over, must_be_taken_over };

/// Opens the worktree of a task that has a workspace, for git to be run in; see Pool::open(). Takes over what an agent
/// with a repository of its own has committed (daemon/git/own.hpp).
Awaitable<Result<git::Pinned>> open_worktree(World& world, const TaskRecord& record,
                                             Commits commits = Commits::as_far_as_taken_over);

/// Returns the place of TASK.md for the task's agents. nullopt if the task has no workspace, or if its folder is not
/// the one that Orange made: the folder that is there now belongs to a person.
std::optional<Path> mirror_of(const World& world, const TaskRecord& record);

/// Returns the places of the task's own TASK.md and of that mirror.
store::Copies copies_of(const World& world, const TaskRecord& record);

}  // namespace orange
