#pragma once

#include "daemon/runner/world.hpp"

namespace orange {

/// The worktree of a task that has a workspace, for git to be run in: as Pool::open().
Awaitable<Result<git::Pinned>> open_worktree(World& world, const TaskRecord& record);

/// Where a task's text is for its agents; nothing where it has no workspace, or where its folder is not the one that
/// was made: what is there now is somebody else's.
std::optional<Path> mirror_of(const World& world, const TaskRecord& record);

/// Its TASK.md, and that mirror.
store::Copies copies_of(const World& world, const TaskRecord& record);

}  // namespace orange
