#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/model/clash.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/artifacts.hpp"
#include "daemon/git/clash.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// Says which tasks' work could not be merged after which, long before anybody merges it.
///
///     a branch moved ─► Committed counts ─► look(): paths of what moved ─► pairs whose paths meet ─► git merge-tree
///     an agent came to rest ────────────────► its uncommitted paths ──────► pairs that "may clash"
///
/// Only tasks that are merged into the same branch are compared, and each with that branch. All is in memory and is
/// found out again after a start of the daemon. Nothing is refused because of a clash, and nobody is told but by what
/// lists, `why` and the question before a merge show.
namespace orange {

class Forecast : Owner {
  public:
    /// Looks at a project each time that Committed has counted its branches.
    explicit Forecast(Runner& runner);

    /// Looks at this project in the background. One git runs at a time.
    void moved(const std::string& project);
    /// True from a call of moved() until all clashes are known.
    bool is_looking() const { return looking_; }
    /// Looks at once. Publishes `clashes.changed` for each task whose clashes differ from those before.
    Awaitable<Result<void>> look(std::string project);

    /// Returns what is known of a task that has not ended: with other tasks, oldest first, then with its branch.
    std::vector<Clash> of(const TaskId& id) const;
    /// Returns the clause about a clash with a task that waits for its human's review as this one does; empty if there
    /// is none: only then a human has to choose.
    std::string clause_in_review(const TaskRecord& record) const;

  private:
    using Paths = std::shared_ptr<const git::ChangedPaths>;
    /// A branch, as it was looked at last.
    struct Branch {
        std::string from, tip;     ///< `committed` is of these two commits; the same if it has no commits of its own
        std::string worktree_tip;  ///< `uncommitted` was read when the branch was there,
        Timestamp at_rest{};       ///< and the worker rested since then
        Paths committed = std::make_shared<const git::ChangedPaths>();
        Paths uncommitted = std::make_shared<const git::ChangedPaths>();
        bool operator==(const Branch&) const = default;
    };
    /// A task as one look sees it.
    struct Seen {
        TaskId id;
        std::string target;         ///< name of the branch that it is merged into
        std::string target_commit;  ///< its commit
        TaskId tries = {};          ///< the task of which it is an attempt: only one of them is merged
        bool is_tried = false;      ///< with its target, too: that has commits that the branch does not have
        Branch branch;
        bool operator==(const Seen&) const = default;
    };
    /// The result of a merge that was tried, and the two commits that it is of: others are tried anew.
    struct Tried {
        std::string ours, theirs;
        Clash clash;  ///< its files are empty if git can merge them
    };
    /// False for work into different branches, and for two attempts of one task.
    static bool may_both_be_merged(const Seen& one, const Seen& other);
    using Pair = std::pair<TaskId, TaskId>;  ///< the second is empty: the target
    class Place;

    Awaitable<void> work_off();
    Awaitable<Result<std::vector<Seen>>> seen_in(Project project);
    Awaitable<void> read_branch(std::string repository, TaskRecord record, Seen& seen);
    Awaitable<Result<void>> try_all(const std::vector<Seen>& all, Place& place);
    Awaitable<Result<void>> try_one(const Seen& ours, const Seen* theirs, Place& place);
    static std::vector<ClashFile> not_committed(const Branch& one, const Branch& other);
    Awaitable<std::map<TaskId, std::vector<Clash>>> clashes_of(const std::vector<Seen>& all) const;
    void store(const std::string& project, std::map<TaskId, std::vector<Clash>> found);

    std::map<TaskId, Branch> branches_;
    std::map<std::string, std::vector<Seen>> seen_;  ///< by project, of the last look
    std::map<Pair, Tried> tried_;
    std::map<TaskId, std::vector<Clash>> clashes_;
    std::set<std::string> moved_;  ///< projects
    bool looking_ = false;
};

/// Tells the worker of `record`, whose plan stands and whose work begins, of the files that the plan of an active task
/// names, too (`TOUCHING:`): the other's id and the paths that exist in the repository, at most ten, once for each
/// other task. The caller saves the record with the message.
Awaitable<void> tell_of_same_plans(World& world, TaskRecord& record, engine::Artifacts artifacts);

}  // namespace orange
