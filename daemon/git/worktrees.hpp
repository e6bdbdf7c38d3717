#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"
#include "daemon/git/refs.hpp"
#include "daemon/git/standing.hpp"

namespace orange::git {

struct Worktree {
    std::string path;
    std::string head;
    std::string branch;  ///< without refs/heads/; empty when detached
    bool prunable = false;
    bool bare = false;
    bool is_locked = false;
    std::string locked;  ///< the reason; empty if it is not locked or has none
};

/// `git worktree list --porcelain -z`.
Awaitable<Result<std::vector<Worktree>>> worktrees(Git& git, std::string repo);

/// What all worktrees of a repository share, absolute: its main git directory.
Awaitable<Result<std::string>> common_dir(Git& git, Place place);

/// Whether its folder is `path`, which may lead there through links.
bool is_at(const Worktree& worktree, const std::string& path);

/// Its git was killed while it made the worktree: git's own lock is left, and perhaps half of the files.
bool is_half_made(const Worktree& worktree);

/// Adds `path` detached at `commit_ref`, locked with the reason "orange". Mends what a killed `worktree add` left
/// there. A daemon that is killed between the two leaves it unlocked: lock_worktree().
Awaitable<Result<void>> add_worktree(Git& git, std::string repo, std::string path, std::string commit_ref);

/// Pins a worktree that add_worktree() has just made.
Awaitable<Result<Pinned>> pin_new(Git& git, std::string repo, std::string path);

/// So that a folder that is away for a while (another disk) is not pruned; success where it is locked already.
Awaitable<Result<void>> lock_worktree(Git& git, std::string repo, std::string path);
bool is_locked(const Pinned& worktree);

/// Removes a worktree of ours and its administrative files; success where there is none.
Awaitable<Result<void>> remove_worktree(Git& git, std::string repo, std::string path);

/// How checkout_branch came to its branch.
enum class BranchOrigin { local, remote, created };

/// Puts `worktree` on `branch`: the local one, else a new local one tracking origin's, else a new one at `base`.
/// conflict (naming the place) where another worktree has it checked out; checked before anything is done.
Awaitable<Result<BranchOrigin>> checkout_branch(Git& git, std::string repo, Pinned worktree, std::string branch,
                                                std::string base);

struct CheckedOut {
    BranchOrigin origin = BranchOrigin::local;
    std::string commit;
};

/// The same of a name that was checked; `known` has what there is of refs_of_branch(), and perhaps `base`.
Awaitable<Result<CheckedOut>> checkout_branch(Git& git, Pinned worktree, std::string branch, std::string base,
                                              const Refs& known);

/// True where anything is uncommitted: changed, staged, untracked, or an operation (rebase, merge …) is under way.
/// A git that fails is an Error, never "clean".
Awaitable<Result<bool>> is_dirty(Git& git, Pinned worktree);

/// Files marked "assume unchanged" or, though they are there, "skip worktree": `git status` passes over them.
Awaitable<Result<std::vector<std::string>>> assumed_unchanged(Git& git, Place place);

struct Amount {
    std::int64_t files = 0;
    std::int64_t bytes = 0;
};
/// Counts the untracked files in a worktree, without ignored ones.
Awaitable<Result<Amount>> untracked_amount(Git& git, Pinned worktree);

/// The tree of all files as they are, untracked ones included, ignored ones not. Neither index nor files nor refs are
/// touched.
Awaitable<Result<std::string>> tree_of_files(Git& git, Pinned worktree);

/// Saves all that is uncommitted, untracked files included (ignored ones not), as a commit on top of HEAD under `ref`
/// (refs/orange/<task>/wip). Neither index nor files nor branch are touched. Returns the commit; empty where clean.
/// What is only staged, and an earlier snapshot under the same ref, become further parents: nothing gets lost.
/// `standing` saves git some work.
Awaitable<Result<std::string>> snapshot(Git& git, Pinned worktree, std::string ref, std::string message,
                                        Standing standing = {});

/// Keeps under `below` (refs/orange/<task>) what a snapshot cannot hold: HEAD's commit if no ref has it
/// (…/head-<commit>), and the commits and the uncommitted work of repositories inside (…/nested-<hash>/…). Of
/// submodules, only what none of their remotes has; they stay as they are until reset_detached(). All other
/// repositories lose their .git: their files are then the worktree's own, for snapshot() to save. Ignored repositories
/// stay. Returns the refs.
Awaitable<Result<std::vector<std::string>>> keep_commits(Git& git, Pinned worktree, std::string below,
                                                         Standing standing = {});

/// The same of a worktree whose folder is gone, as far as git's own folder for it (.git/worktrees/<admin>) has it: its
/// HEAD and its submodules.
Awaitable<Result<std::vector<std::string>>> keep_commits_of_missing(Git& git, std::string common_dir, std::string admin,
                                                                    std::string below);

/// Keeps under `below` what was stashed on the branch that the worktree is on (…/stash-<commit>). All worktrees share
/// one stash, in which all but the last entry is in nothing but a log: whoever clears it, in any of them, takes
/// everybody's. Nothing of that is the worktree's own: where it fails, a release may go on. Returns the refs that are
/// new.
Awaitable<Result<std::vector<std::string>>> keep_stashes(Git& git, Pinned worktree, std::string below);

/// Leaves `worktree` detached at `base`, clean but for ignored files, and resets its submodules. Detaches first: no
/// branch ever moves. The caller has called keep_commits() and taken the snapshot.
Awaitable<Result<void>> reset_detached(Git& git, Pinned worktree, std::string base, Standing standing = {});

/// Brings a worktree that holds nobody's work to a commit: detached, and without any other files than those that git
/// ignores. Unlike reset_detached(), it also removes repositories that are no submodules of the commit.
Awaitable<Result<void>> reset_all(Git& git, Pinned worktree, std::string commit, Standing standing);

/// Brings the submodules of a clean worktree to the commits that HEAD has for them, without commits of their own. One
/// that HEAD does not have, or whose commit is not here, is removed: it is then as in a new worktree. The caller has
/// called keep_commits().
Awaitable<Result<void>> reset_submodules(Git& git, Pinned worktree);

/// Adds lines to info/exclude of a common git directory that are not there yet, and removes `obsolete` ones: the file
/// is replaced, whole, and a link in its place is not written through.
Result<void> exclude(const std::string& common_dir, const std::vector<std::string>& patterns,
                     const std::vector<std::string>& obsolete = {});

/// True where the repository tracks that path at HEAD of `worktree`.
Awaitable<Result<bool>> tracks(Git& git, Pinned worktree, std::string path);

}  // namespace orange::git
