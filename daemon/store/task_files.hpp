#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "common/model/record.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/process/process_runner.hpp"

namespace orange::store {

/// The two copies of a task's TASK.md: its own, and the mirror in the worktree while it has one (data.md).
struct Copies {
    Path own;
    std::optional<Path> mirror;
};

/// What bringing them in step found.
struct Synced {
    std::string body;                      ///< what both copies now say
    std::string body_hash;                 ///< for TaskRecord::body_hash; the caller saves it
    bool body_changed = false;             ///< somebody wrote since record.body_hash
    std::vector<HistoryEvent> events;      ///< frontmatter.restored, body.conflict, section.lost
    std::optional<std::string> attention;  ///< both copies were edited: where the other one is kept
    bool unsettled = false;                ///< a writer still holds a displaced copy open: sync again soon
    bool waiting = false;  ///< a displaced file is kept for a writer who may be about to open it: sync again soon
    /// Fields unknown to Orange that somebody added or changed by hand: for Task::extra_frontmatter; the caller saves
    /// them with the hash.
    std::optional<std::string> extra_frontmatter;
};

struct TaskMemory;

/// Keeps body and frontmatter what they should be, while agents and people edit both copies in whatever way they save:
/// in place, rename over, delete and create. Called under the task's lock.
///
/// Body: whichever copy differs from record.body_hash is taken over into the other; both changed: the newer stays, the
/// other is kept beside the task's own as TASK.md.conflict-<time>. Frontmatter: always the projection of record.task;
/// what was there instead goes into a frontmatter.restored event. A copy that is right already is not written. Writing
/// swaps (FileSystem::exchange) and compares what it displaced with what it had read, so that an edit in between is
/// merged, line by line (git merge-file --union), never lost; a displaced file that a writer still has open is looked
/// at again until nobody has.
///
/// An Error (a full disk) has changed nothing for good: whatever was found is found again by the next call.
class TaskFiles {
  public:
    /// A displaced file that no writer has open is removed after `keeps_displaced`.
    TaskFiles(FileSystem& files, ProcessRunner& processes, const Clock& clock,
              std::chrono::milliseconds keeps_displaced = std::chrono::seconds(1));
    ~TaskFiles();

    Awaitable<Result<Synced>> sync(TaskRecord record, Copies copies);

    /// As sync, and then replaces one section's text (## Context, ## Feedback) in both copies.
    Awaitable<Result<Synced>> write_section(TaskRecord record, Copies copies, std::string heading, std::string text);

    /// Takes the mirror's last word and removes the file: before a worktree is given back.
    Awaitable<Result<Synced>> retire_mirror(TaskRecord record, Copies copies);

    /// Forgets what is remembered of a task between calls: when it is removed.
    void forget(const TaskId& id);

    /// When to sync again after a call that gave `waiting`.
    std::chrono::milliseconds keeps_displaced() const { return keeps_displaced_; }

  private:
    std::shared_ptr<TaskMemory> memory_for(const TaskId& id, const Copies& copies);

    FileSystem& files_;
    ProcessRunner& processes_;
    const Clock& clock_;
    const std::chrono::milliseconds keeps_displaced_;
    std::map<TaskId, std::shared_ptr<TaskMemory>> memories_;
};

}  // namespace orange::store
