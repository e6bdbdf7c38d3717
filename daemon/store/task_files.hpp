#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/model/history.hpp"
#include "common/model/record.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/files/file_system.hpp"
#include "daemon/store/text.hpp"

namespace orange::store {

/// The two copies of a task's TASK.md (docs/files.md): its own one, and the mirror in the worktree while it has one.
struct Copies {
    Path own;
    std::optional<Path> mirror;
    std::set<std::string, std::less<>> sections = {};  ///< sections that the workflow asks its agents for
    std::set<std::string, std::less<>> verdicts = {};  ///< of these, those with a reviewer's verdict
};

/// The result of a call of TaskFiles; the caller saves its values in the record.
struct Synced {
    TextPtr text;                          ///< the body of both copies, parsed at most once
    std::string body;                      ///< the same
    std::string body_hash;                 ///< for TaskRecord::body_hash; the caller saves it
    bool body_changed = false;             ///< the body was edited since record.body_hash
    std::vector<HistoryEvent> events;      ///< frontmatter.restored, section.lost, task_file.moved, task_file.unread
    std::optional<std::string> attention;  ///< what the human should know, with the file that has what went
    std::string unread;                    ///< a copy is too large and was not read; empty: both were
    bool unsettled = false;                ///< a writer has a copy open: call again soon
    bool waiting = false;                  ///< a displaced file is not yet removed: call again after keeps_displaced()
    /// The unknown fields of the frontmatter, if they changed. The caller saves them with the hash.
    std::optional<std::string> extra_frontmatter;
    /// heading → the time at which this section was last written. A save of the mirror with an unchanged body counts as
    /// a write of all its sections.
    std::map<std::string, Timestamp> rewritten;
};

struct TaskMemory;

/// A change of a section that Orange makes.
struct SectionEdit {
    std::string heading;
    std::string text;
    bool adds = false;  ///< adds those lines of `text` that the section does not have yet; else replaces the section
};

/// Keeps the two copies of TASK.md equal while agents and humans edit either of them in all the ways of editors: in
/// place, by renaming over it, by deleting and creating it. The caller holds the task's lock.
///
/// Editors honour no lock. So a call prevents no edit, but finds the edits that happened:
///
/// 1. It reads both copies, and waits a quarter of a second if one is being saved at this moment.
/// 2. It decides on the body. A copy was edited if its body differs from the one that it showed last. Each edit is
///    merged into the body (save_merge.hpp) from the text that its author had read: of those that stood in the copy
///    since its last save, the one that differs least from it (bases.hpp).
/// 3. It exchanges the new text into each copy that does not have it, and reads the displaced file. If that is another
///    text than step 1 read, an editor was faster: its edit is merged in like one of step 2, and step 3 repeats.
/// 4. A process that had a displaced file open can still write to it. The file stays beside TASK.md for a second and
///    until no process has it open; text that comes into it is merged in.
///
/// Lines of another author that an edit removes twice are kept as TASK.kept-<time>.md in the task's folder, and told.
/// What is no regular file in the place of a copy is moved to TASK.md.found, and a copy above 1 MiB is not read.
/// The frontmatter always shows record.task; an edit of it is undone and reported as frontmatter.restored.
///
/// An Error (for example a full disk) loses nothing: the next call finds the same edits again.
class TaskFiles {
  public:
    TaskFiles(FileSystem& files, const Clock& clock,
              std::chrono::milliseconds keeps_displaced = std::chrono::seconds(1));
    ~TaskFiles();

    /// Makes both copies equal.
    Awaitable<Result<Synced>> sync(TaskRecord record, Copies copies);

    /// Does the same as sync(), and then changes sections in both copies.
    Awaitable<Result<Synced>> write_sections(TaskRecord record, Copies copies, std::vector<SectionEdit> edits);

    /// Does the same as sync(), and then removes the mirror, before the worktree is released.
    Awaitable<Result<Synced>> retire_mirror(TaskRecord record, Copies copies);

    /// Forgets the last common body and the displaced files of a task that ended or was deleted.
    void forget(const TaskId& id);

    /// Returns the time that a displaced file stays.
    std::chrono::milliseconds keeps_displaced() const { return keeps_displaced_; }

  private:
    std::shared_ptr<TaskMemory> memory_for(const TaskId& id);

    FileSystem& files_;
    const Clock& clock_;
    const std::chrono::milliseconds keeps_displaced_;
    std::map<TaskId, std::shared_ptr<TaskMemory>> memories_;
};

}  // namespace orange::store
