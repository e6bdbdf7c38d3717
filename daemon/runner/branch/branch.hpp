#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/record.hpp"
#include "daemon/engine/facts.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/runner/transitions/turns.hpp"

/// The branch of a task and the worktree that is on it: what gates ask about it, what it changes, its update with the
/// default branch, and what an ended task leaves of it.
///
/// The files belong to the agents, so nothing here relies on what it saw last: each function opens the worktree again
/// (open_worktree()) and asks git. An agent may leave the task's branch, or change what git runs; both are shown to the
/// human (watch_branch(), watch_programs()), and neither is prevented (docs/security.md). Committed (committed.hpp)
/// counts the changes for lists.
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

/// Collects the facts that the gates on the ways out of the task's state name; with `to`, only of the way there. Called
/// in the task's turn. Runs no git if the gates name nothing. A fact that cannot be determined is marked as unknown
/// with the reason, and no gate that names it holds. A check that failed before `since` counts as not run.
Awaitable<engine::Facts> facts_of(World& world, const TaskRecord& record, const engine::Definition& definition,
                                  std::string to = {}, std::optional<Timestamp> since = {});

/// True once the task has had a workspace, so that its branch may hold its commits. Before that, the branch is only a
/// name, or existed before the task.
Result<bool> has_had_branch(World& world, const TaskRecord& record);

/// True if the task's branch has changes that its merge target does not have, as far as this machine knows. Fails if
/// the task had a branch that no longer exists.
Awaitable<Result<bool>> has_own_work(World& world, const TaskRecord& record);

/// The changes of a task's branch: from `base`, where it left the branch that it is compared with, to `tip`.
struct Changes {
    std::string repository;
    std::string base;         ///< a commit
    std::string commit = {};  ///< the branch's newest commit
    std::string tip;          ///< the branch's commit; with uncommitted changes, a tree of the worktree's files
    std::int64_t commits = 0, files = 0, added = 0, removed = 0;
    bool uncommitted = false;
    std::vector<git::LargeFile> large = {};  ///< uncommitted files that are not in `tip`
};

/// Counts what the commits of `tip` change since it left `target`; both are names of commits. `known` is an earlier
/// count of the branch, or empty. It is returned, without counting, if its tip and base are the same.
Awaitable<Result<Changes>> committed_changes(World& world, std::string repository, std::string target, std::string tip,
                                             Changes known);

/// Returns the changes in the task's worktree, or of its branch if it has no worktree. not_found if there is neither.
/// With `since_review`, counts from the commit that was reviewed last; not_found if there is none. `known` is as in
/// committed_changes(): for a large branch, git needs long to count.
Awaitable<Result<Changes>> changes_of(World& world, TaskRecord record, Changes known, bool since_review = false);

/// Returns how `to` differs from `from`; both are commits or trees. No commits are counted.
Awaitable<Result<Changes>> changes_between(World& world, std::string repository, std::string from, std::string to);

/// The text of changes, as git prints it without colours.
struct PatchText {
    std::string stat;
    std::string text;  ///< at most k_largest_patch bytes, whole lines
    bool cut = false;
};
inline constexpr std::size_t k_largest_patch = std::size_t{512} << 10;
Awaitable<Result<PatchText>> patch_of(World& world, Changes changes);

/// `orange task update-branch`: merges the default branch (base_of(), refs.hpp) into the task's branch in its worktree;
/// for a task that is built on another one that is not done, the commit of that one (commit_below()).
/// conflict if the task has no worktree, if an agent works or something is uncommitted there, or if files conflict.
/// Files that conflict stay in the worktree to be resolved (`details["files"]`). Succeeds if the branch is already up
/// to date.
Awaitable<Result<Outcome>> update_branch(Runner& runner, TaskId id, Caller by);

/// Returns the role of an agent at work in the worktree: that of the status, and any that is not known to rest.
std::optional<Role> role_at_work(Runner& runner, const TaskRecord& record);

/// Says what git has begun in the task's worktree and not finished, for example the merge that update_branch() left
/// there, and how to go on. Empty if there is nothing, or if it cannot be found out.
Awaitable<std::string> half_done(World& world, TaskRecord record);

// The branch that a worktree is on instead of its task's branch. A merge brings the task's branch, but the reviewer
// sees the worktree. An agent may have switched to another branch, renamed its branch, or detached HEAD.

struct OtherBranch {
    std::string text;     ///< a sentence about what the worktree is on
    std::string command;  ///< makes the task's branch have that work
};

/// Returns the branch that the worktree of a task is on, if it has commits that the task's branch does not have.
Awaitable<Result<std::optional<OtherBranch>>> other_branch_of(World& world, TaskRecord record);

/// Raises the notice other_branch, or clears it; the caller saves the record.
Awaitable<void> watch_branch(World& world, TaskRecord& record);

/// The work of an ended task, and the branch that holds it now.
struct RestoredWork {
    std::string branch;
    std::string commit;
    std::vector<std::string> notes;
};

/// Returns sentences about the work that a cancelled task leaves, with the command that restores it; empty if there is
/// no work.
Awaitable<std::vector<std::string>> kept_work(World& world, TaskRecord record);

/// Creates a branch for a task's work: for its uncommitted work with the commits below it, otherwise for its branch,
/// otherwise for the merged commit. `branch` is the name; if it is empty, the task's own with "-restored". A repeated
/// call changes nothing. conflict if the name belongs to another commit, or if the task has not ended; not_found if
/// there is no work.
Awaitable<Result<RestoredWork>> restore_work(World& world, TaskRecord record, std::string branch);

/// Returns the commit that restore_work() would make a branch of; empty if the ended task has left none.
Awaitable<Result<std::string>> commit_of_ended(World& world, TaskRecord record);

/// The work of a task or of a person, for another task to begin with.
struct WorkToFork {
    std::string commit;            ///< with everything that was not committed, but for ignored files
    std::string base = {};         ///< the last commit that the branch shares with the one that it is compared with
    bool has_uncommitted = false;  ///< `commit` is one for the uncommitted work
};

/// Returns the work of a task, whose agents may go on meanwhile. Its files, index, branch and refs do not change.
/// not_found if it has none yet.
Awaitable<Result<WorkToFork>> work_of(World& world, TaskRecord record);
/// Returns likewise the work in a worktree, without `base`. `message`: of the commit for what is not committed.
Awaitable<Result<WorkToFork>> work_in(World& world, git::Pinned worktree, std::string message);
/// Returns the last commit that `commit` shares with the branch that the task is compared with; empty if there is none.
Awaitable<Result<std::string>> base_of_work(World& world, TaskRecord record, Project project, std::string commit);

/// Keeps the commit with which the task begins, as a ref of Orange's, until the task has its branch.
Awaitable<Result<void>> hold_work(World& world, std::string repository, TaskId id, std::string commit);
/// conflict if the branch with which the task is to begin exists by now, and does not have that work.
Awaitable<Result<void>> check_begins_with_work(World& world, std::string repository, TaskRecord record);
/// Removes that ref.
Awaitable<void> let_go_of_work(World& world, std::string repository, TaskId id);

// An agent in a worktree can change what git runs in all worktrees, and the addresses to which git sends. Orange does
// not prevent that (docs/security.md), but shows it to the human.

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
