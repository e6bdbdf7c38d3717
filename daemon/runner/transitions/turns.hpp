#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/artifacts.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

struct Runner;

/// The notes of a call for its human, in addition to the task itself.
struct Outcome {
    std::vector<std::string> notes;
    std::string spawn_error;  ///< why an agent could not be started; empty: all were started
};

/// Returns the daemon itself as a caller, with the event on which it acts.
inline Caller daemon_for(std::string evidence) {
    Caller caller;
    caller.role = Role::system;
    caller.evidence = std::move(evidence);
    return caller;
}

/// A task while its lock is held: only the holder changes it.
struct TaskTurn {
    async::Mutex::Lock lock;
    TaskRecord record;  ///< as it was saved when the turn began
};

/// The text of a task after its two copies of TASK.md were synced.
struct SyncedBodies {
    engine::Artifacts artifacts;
    std::string body;
    std::string unread;                  ///< a copy of TASK.md is too large and was not read; empty: both were
    std::vector<Notice> notices_before;  ///< before the sync: a transition clears only these
};

/// Gives a caller a turn at a task: its lock, its record, its workflow and its TASK.md. Writes the record back, and
/// reports a failed write. An owner that watches tasks observes the store, which reports every such write.
class Turns {
  public:
    explicit Turns(World& world) : world_(world) {}

    /// Waits for the task's lock, and returns it with the record. not_found if the task does not exist then.
    Awaitable<Result<TaskTurn>> begin_turn(TaskId id);

    /// Waits for the task's lock alone: the task's record may be unreadable.
    Awaitable<async::Mutex::Lock> lock(TaskId id);

    /// Waits until all turns have ended that have begun, or wait for the lock, at the time of this call.
    Awaitable<void> free(TaskId id);

    Result<TaskRecord> record_of(const TaskId& id) const;
    Result<workflow::Library::DefinitionPtr> definition_of(const Task& task) const;

    /// Syncs both copies of TASK.md, and reads them. Called under the lock. Saves what that finds out.
    Awaitable<Result<SyncedBodies>> sync_bodies(TaskRecord& record);

    /// Syncs TASK.md so that it shows a saved change. Called under the lock. A failure is logged and noted in `told`,
    /// and the next poll tries again: the change itself is saved already.
    Awaitable<void> show(TaskRecord& record, Outcome* told = nullptr);

    /// Takes the lock and calls show(), because TASK.md has changed or may have.
    Awaitable<void> body_changed(TaskId id);

    /// Copies the last text of the mirror into the task's own TASK.md, and removes the mirror. Called under the lock,
    /// before the worktree is released. Does nothing if the task has no mirror.
    Awaitable<Result<void>> retire_mirror(TaskRecord& record);

    /// Saves a task, and returns a failure. For changes on which the caller depends.
    Result<void> try_save(const TaskRecord& record, Durability durability = Durability::synced);
    /// Saves a task. Logs a failure and returns false. For changes that are found out again if they cannot be written.
    bool save(const TaskRecord& record, Durability durability = Durability::synced);

  private:
    /// Puts the results of a sync into place: events into the history; body hash, foreign frontmatter fields and
    /// attention into the record, which is saved if any of them changed.
    void apply(TaskRecord& record, const store::Synced& synced);
    Awaitable<void> sync_after(std::chrono::milliseconds time, TaskId id);

    World& world_;
    std::set<TaskId> syncing_soon_;
};

/// Counts the time of what the task did until now, if it does something else (engine/times.hpp). The caller saves the
/// record.
void keep_time(const World& world, const Turns& turns, TaskRecord& record);

/// The base of the owners of a Runner, each of which reaches all others through it.
class Owner {
  public:
    explicit Owner(Runner& runner);
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

  protected:
    ~Owner() = default;

    Runner& runner_;
    World& world_;
    Turns& turns_;
};

}  // namespace orange
