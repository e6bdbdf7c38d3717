#pragma once

#include <optional>
#include <string>

#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

/// Whoever works in a worktree can change what git runs in all of them, and where it sends to. That is not prevented
/// (docs/security.md); it is told.
namespace orange {

/// Takes down what it is for a task that has just got its workspace; what was before is nobody's news.
Awaitable<void> note_programs(World& world, TaskRecord& record);

/// Tells what has changed since, once: an event, and a mark for attention, which the caller saves. Before the daemon's
/// git goes on with the task.
Awaitable<void> watch_programs(World& world, TaskRecord& record);

/// A mark that no transition takes away: it is there until a human has looked (`orange task ack`).
bool is_about_programs(const std::optional<std::string>& attention);

}  // namespace orange
