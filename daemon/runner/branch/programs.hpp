#pragma once

#include <string>

#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

/// An agent in a worktree can change what git runs in all worktrees, and the addresses to which git sends. Orange does
/// not prevent that (docs/security.md), but shows it to the human.
namespace orange {

/// Records the programs for a task that has just got its workspace, and returns them; nothing if they cannot be found
/// out. Later changes are compared with them.
Awaitable<std::optional<git::Programs>> note_programs(World& world, TaskRecord& record);

/// Records what has changed since the last call, and adds it to the task's alarm; the caller saves the record. Called
/// before a merge and by `orange task ack`.
Awaitable<void> watch_programs(World& world, TaskRecord& record);

/// Returns the task's alarm as watch_programs() would make it now, and changes nothing. Called before a human sees the
/// changes of a task, and by doctor.
Awaitable<std::string> current_alarm(World& world, TaskRecord record);

/// Does the same as watch_programs() for the definition of the harness with which a run is about to begin. It is
/// compared with the one that a human created the task with, chose for it, or acknowledged. Called before the run is
/// saved. `earlier_hash`: HarnessEntry::earlier_hash.
void watch_harness(World& world, TaskRecord& record, const AgentRun& run, const std::string& earlier_hash);

/// Return the texts of the alarms, which stand until `orange task ack`; empty if nothing was changed.
std::string programs_alarm(const TaskRecord& record);
std::string harness_alarm(const TaskRecord& record);
/// Returns both texts, with the command that acknowledges them; empty if there is no alarm.
std::string alarm_of(const TaskRecord& record);

}  // namespace orange
