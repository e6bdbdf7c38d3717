#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"
#include "daemon/git/refs.hpp"
#include "daemon/git/worktree_status.hpp"

namespace orange::git {

/// A worktree as `git worktree list` describes it.
struct Worktree {
    std::string path;
    std::string head;
    std::string branch;  ///< without refs/heads/; empty when detached
    bool prunable = false;
    bool bare = false;
    bool is_locked = false;
    std::string locked;  ///< the reason; empty if it is not locked or has none
    std::string admin;   ///< the name of its folder in .git/worktrees, if files_of_worktrees() has listed it
};

/// Lists all worktrees of a repository (`git worktree list`); the first one is the repository itself.
Awaitable<Result<std::vector<Worktree>>> worktrees(Git& git, std::string repo);

/// Lists the worktrees as they are now from git's own files, without a process, and without `head` and `prunable`.
/// Returns nothing if only git can tell: the repository is bare, its `.git` is no folder, its refs are not in files, or
/// a file is not as git writes it.
std::optional<std::vector<Worktree>> files_of_worktrees(const std::string& repo);

/// Lists the worktrees with files_of_worktrees(), or else with worktrees().
Awaitable<Result<std::vector<Worktree>>> listed_worktrees(Git& git, std::string repo);

/// Returns the absolute path of the git directory that all worktrees of a repository share.
Awaitable<Result<std::string>> common_dir(Git& git, Place place);

/// Returns true if the worktree's folder is `path`, also if `path` leads there through links.
bool is_at(const Worktree& worktree, const std::string& path);

/// Returns true if git was killed while it made the worktree: git's own lock is still set, and files may be missing.
bool is_half_made(const Worktree& worktree);
/// Returns true if such a worktree is registered at the path.
bool is_half_made_at(const std::vector<Worktree>& all, const std::string& path);

/// Adds a worktree at `path`, detached at `commit_ref` (a ref or a commit) and locked with the reason "orange". Removes
/// the remains of a killed `worktree add` first. If the daemon is killed before the lock, the worktree stays unlocked;
/// lock_worktree() locks it later.
Awaitable<Result<void>> add_worktree(Git& git, std::string repo, std::string path, std::string commit_ref);

/// Pins a worktree that add_worktree() has just made.
Awaitable<Result<Pinned>> pin_new(Git& git, std::string repo, std::string path);

/// Opens the worktree of a person in which the folder is, a linked one or the repository's own, as it is now. conflict
/// if the folder is in none.
Awaitable<Result<Pinned>> pin_persons(Git& git, std::string folder);

/// Locks a worktree, so that git does not prune it while its folder is missing for a while (another disk). Success if
/// it is locked already.
Awaitable<Result<void>> lock_worktree(Git& git, std::string repo, std::string path);
/// Returns true if the worktree is locked, without a git process.
bool is_locked(const Pinned& worktree);

/// Removes a worktree of Orange and git's folder for it; success if there is none.
Awaitable<Result<void>> remove_worktree(Git& git, std::string repo, std::string path);

/// The source of the branch that checkout_branch() has checked out.
enum class BranchOrigin { local, remote, created };

/// Checks out `branch` in `worktree`: the local one, or else a new local one that tracks origin's, or else a new one at
/// `base`. conflict, before any change, if another worktree has it checked out; the message names that worktree.
Awaitable<Result<BranchOrigin>> checkout_branch(Git& git, std::string repo, Pinned worktree, std::string branch,
                                                std::string base);

struct CheckedOut {
    BranchOrigin origin = BranchOrigin::local;
    std::string commit;
};

/// Checks out a branch as above, without a check of its name. `known` has the existing refs of refs_of_branch(), and
/// may have `base`.
Awaitable<Result<CheckedOut>> checkout_branch(Git& git, Pinned worktree, std::string branch, std::string base,
                                              const Refs& known);

/// Returns true if there are uncommitted changes (changed, staged or untracked files) or an operation (rebase, merge …)
/// is under way. If git fails, the result is an Error.
Awaitable<Result<bool>> is_dirty(Git& git, Pinned worktree);

/// Returns files that `git status` skips: marked "assume unchanged", or marked "skip worktree" although they exist.
Awaitable<Result<std::vector<std::string>>> assumed_unchanged(Git& git, Place place);

struct Amount {
    std::int64_t files = 0;
    std::int64_t bytes = 0;
};
/// Counts the untracked files in a worktree, without ignored ones.
Awaitable<Result<Amount>> untracked_amount(Git& git, Pinned worktree);

/// A file of a worktree that is too large to be read each time that somebody looks.
struct LargeFile {
    std::string path;  ///< as shown_path()
    std::int64_t bytes = 0;
};

/// Makes and returns the tree of all files as they are, with untracked and without ignored ones. The index, the files
/// and the refs do not change. With `large`, files of more than 32 MiB that are new or have changed are in the tree as
/// they are in HEAD, or not at all; `large` gets their names. Git would read and compress them, at 50 MB a second. It
/// has one minute then, because a filter that the repository's configuration names may hang.
Awaitable<Result<std::string>> tree_of_files(Git& git, Pinned worktree, std::vector<LargeFile>* large = nullptr);

/// Saves all uncommitted changes, with untracked and without ignored files, as a commit on top of HEAD under `ref`
/// (refs/orange/<task>/wip). The index, the files and the branch do not change. Returns the commit; empty if the
/// worktree is clean. Changes that are only staged, and an earlier snapshot under `ref`, become further parents, so
/// that they are kept. `standing`, if known, saves git processes.
Awaitable<Result<std::string>> snapshot(Git& git, Pinned worktree, std::string ref, std::string message,
                                        WorktreeStatus standing = {});

/// Returns HEAD's commit if all files are as there, or else a new commit on top of it with all files, as
/// tree_of_files() finds them, which no ref has. The index, the files and the refs do not change. conflict if HEAD has
/// no commit.
Awaitable<Result<std::string>> commit_of_files(Git& git, Pinned worktree, std::string message);

/// Keeps under `below` (refs/orange/<task>) the work that a snapshot cannot hold: HEAD's commit if no other ref has it
/// (…/head-<commit>), and the commits and uncommitted changes of repositories inside (…/nested-<hash>/…). Submodules
/// stay as they are until reset_detached(), and only commits that none of their remotes has are kept. All other
/// repositories lose their .git, so that their files become the worktree's own, for snapshot() to save. Ignored
/// repositories stay. Nothing is done to repositories in a walled worktree (set_repositories_aside()). Returns the new
/// refs.
Awaitable<Result<std::vector<std::string>>> keep_commits(Git& git, Pinned worktree, std::string below,
                                                         WorktreeStatus standing = {});

/// Keeps commits as above for a worktree whose folder is missing: its HEAD and its submodules, which are in git's own
/// folder for it (.git/worktrees/<admin>).
Awaitable<Result<std::vector<std::string>>> keep_commits_of_missing(Git& git, std::string common_dir, std::string admin,
                                                                    std::string below);

/// Keeps under `below` the stashes of the branch that the worktree is on (…/stash-<commit>). All worktrees share one
/// stash list, and all entries but the last are only in its log: `git stash clear` in one worktree drops the stashes of
/// all. A failure need not stop the release of the worktree, since the stash list stays where it is. Returns the new
/// refs.
Awaitable<Result<std::vector<std::string>>> keep_stashes(Git& git, Pinned worktree, std::string below);

/// Detaches `worktree` at `base`, removes everything that is neither tracked nor ignored, and resets its submodules.
/// HEAD is detached first, so that no branch moves. The caller has called keep_commits() and snapshot().
Awaitable<Result<void>> reset_detached(Git& git, Pinned worktree, std::string base, WorktreeStatus standing = {});

/// Resets a worktree that contains no work to a commit: detached, with no files but those of the commit and ignored
/// ones. Unlike reset_detached(), it also removes repositories that are no submodules of the commit.
Awaitable<Result<void>> reset_all(Git& git, Pinned worktree, std::string commit, WorktreeStatus standing);

/// Brings the submodules of a clean worktree to the commits that HEAD records for them, without commits of their own. A
/// submodule that HEAD does not have, or whose commit is missing here, is removed, and is then as in a new worktree.
/// The caller has called keep_commits().
Awaitable<Result<void>> reset_submodules(Git& git, Pinned worktree);

/// Adds lines to info/exclude of a common git directory that are not there yet, and removes `obsolete` ones: the file
/// is replaced, whole, and a link in its place is not written through.
Result<void> exclude(const std::string& common_dir, const std::vector<std::string>& patterns,
                     const std::vector<std::string>& obsolete = {});

/// Returns true if HEAD of `worktree` has that path.
Awaitable<Result<bool>> tracks(Git& git, Pinned worktree, std::string path);

}  // namespace orange::git
