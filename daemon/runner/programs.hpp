#pragma once

#include <string>

#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

/// Whoever works in a worktree can change what git runs in all of them, and where it sends to. That is not prevented
/// (docs/security.md); it is told.
namespace orange {

/// Takes down what it is for a task that has just got its workspace; what was before is nobody's news.
Awaitable<void> note_programs(World& world, TaskRecord& record);

/// Tells what has changed since it was last looked at, and adds it to what a human has to look at; the caller saves the
/// record. Before the daemon's git goes on with the task.
Awaitable<void> watch_programs(World& world, TaskRecord& record);

/// The same for the definition of a harness, which a run is about to begin with: a reviewer is whatever that says.
/// Known is the one that a human has created the task with, chosen for it, or looked at since. Before the run is saved.
void watch_harness(World& world, TaskRecord& record, const AgentRun& run);

/// What a human should look at, until `orange task ack`; empty if nothing was changed.
std::string programs_alarm(const TaskRecord& record);
std::string harness_alarm(const TaskRecord& record);
/// Both.
std::string alarm_of(const TaskRecord& record);

}  // namespace orange
