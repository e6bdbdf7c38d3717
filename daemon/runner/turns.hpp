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

/// The part of a reply that a call tells its human beside the task itself.
struct Outcome {
    std::vector<std::string> notes;
    std::string spawn_error;  ///< why an agent that was to start did not; empty: all did
};

/// The daemon itself as a caller, and what it acts on.
inline Caller daemon_for(std::string evidence) {
    Caller caller;
    caller.role = Role::system;
    caller.evidence = std::move(evidence);
    return caller;
}

/// A task while its lock is held: nobody else changes it meanwhile.
struct TaskTurn {
    async::Mutex::Lock lock;
    TaskRecord record;  ///< as it was saved when the turn began
};

/// A task's text, with its two copies in step.
struct Stepped {
    engine::Artifacts artifacts;
    std::string body;
    std::vector<Notice> notices_before;  ///< what a transition clears; what came with this look stays
};

/// Gives a caller a turn at a task: its lock, its record, its workflow and its TASK.md. Writes the record back, and
/// reports a failed write. An owner that watches tasks observes the store, which tells of every such write.
class Turns {
  public:
    explicit Turns(World& world) : world_(world) {}

    /// Waits for the task's lock, and returns it with the record. not_found if there is no such task then.
    Awaitable<Result<TaskTurn>> begin_turn(TaskId id);

    /// Waits until all turns have ended that have begun, or wait for the lock, when this is called.
    Awaitable<void> free(TaskId id);

    Result<TaskRecord> record_of(const TaskId& id) const;
    Result<workflow::Library::DefinitionPtr> definition_of(const Task& task) const;

    /// Under the lock: brings both copies of TASK.md in step, and reads them. What that finds out is saved.
    Awaitable<Result<Stepped>> step_bodies(TaskRecord& record);

    /// The same for whoever only wants TASK.md to show what was changed. What is saved is done: if TASK.md cannot say
    /// so yet, that is logged and noted in `told`, and the next poll tries again.
    Awaitable<void> show(TaskRecord& record, Outcome* told = nullptr);

    /// The same without the lock: TASK.md changed somewhere, or might have.
    Awaitable<void> body_changed(TaskId id);

    /// Under the lock, before the worktree is given back: the mirror's last text comes home, and the file goes. Nothing
    /// if the task has no mirror.
    Awaitable<Result<void>> retire_mirror(TaskRecord& record);

    /// The two ways to save a task. For what the caller depends on: it returns the error.
    Result<void> try_save(const TaskRecord& record, Durability durability = Durability::synced);
    /// For what is found out again if it cannot be written: a failure is logged, and false.
    bool save(const TaskRecord& record, Durability durability = Durability::synced);

  private:
    /// What a sync has found: events into the history; body hash, foreign frontmatter fields and attention into the
    /// record, which is saved if any of them changed.
    void apply(TaskRecord& record, const store::Synced& synced);
    Awaitable<void> sync_after(std::chrono::milliseconds time, TaskId id);

    World& world_;
    std::set<TaskId> syncing_soon_;
};

}  // namespace orange
