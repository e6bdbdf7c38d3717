#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/names.hpp"
#include "daemon/git/git.hpp"
#include "daemon/git/repository.hpp"

/// The steps of a merge. Every step may be repeated after a crash, because none keeps state. The runner calls the steps
/// in order and records each finished phase (daemon/runner/merging/merge_run.hpp).
///
///     fetch → inspect_merge → find_elsewhere → build_merge → push_merge → follow
///
/// The caller holds the repository's lock for all steps but fetch and push_merge, which wait for the remote.
namespace orange::git {

enum class MergeStrategy {
    merge,   ///< a merge commit
    ff,      ///< the branch itself: the target is fast-forwarded to it
    squash,  ///< one commit with all changes of the branch
};
inline constexpr NameRow<MergeStrategy> k_merge_strategies[] = {
    {MergeStrategy::merge, "merge"},
    {MergeStrategy::ff, "ff"},
    {MergeStrategy::squash, "squash"},
};
static_assert(has_row_for_each<k_merge_strategies>());
constexpr std::string_view name_of(MergeStrategy strategy) {
    return k_merge_strategies[static_cast<std::size_t>(strategy)].name;
}
constexpr std::optional<MergeStrategy> from_name(std::string_view name, MergeStrategy) {
    return kind_named(k_merge_strategies, name);
}

/// A merge: the branch, its target, and the options.
struct MergeRequest {
    std::string repo;                     ///< main worktree
    std::string git_dir = {};             ///< git directory of `repo`; empty: git is asked
    std::optional<bool> has_origin = {};  ///< nothing: git is asked
    std::string scratch;                  ///< a path for a folder that build_merge() makes and removes
    std::string branch;                   ///< the branch to merge
    std::string tip;                      ///< its commit
    std::string target;                   ///< the default branch
    bool is_of_task = false;              ///< the target is the branch of a task, which an agent can write
    std::string shown_base = {};          ///< "origin/main", for messages; empty: `target`
    bool push = true;                     ///< origin gets the merge
    std::vector<std::string> sign = {};   ///< CommitSettings::sign (signing.hpp); empty: the merge is not signed
    bool include_unpushed = false;
    std::string base = {};  ///< the commit that the published commit was built on; empty: unknown
    /// Merges that Orange made and did not push: result → the commit of `target` that it was built on.
    std::map<std::string, std::string> unpushed;
};

/// The commits from which a merge begins; an empty commit means that there is no such ref.
struct MergeView {
    std::string local;   ///< `target` here
    std::string remote;  ///< `target` at origin as of the last fetch; empty if there is no origin
    std::string base;    ///< the commit that the merge is built on
    std::string tip;     ///< the commit to merge, see branch_tip()
};

/// Returns the commit of a branch: the local one, or else origin's as of the last fetch. not_found if there is neither.
Awaitable<Result<std::string>> branch_tip(Git& git, std::string repo, std::string branch);

/// Reads the refs and chooses the base. With `push` the base is origin's commit, so that the user's unpushed commits of
/// the local branch are not published. Exceptions are merges in `unpushed` and a local merge of this very branch.
/// not_found if the target does not exist; conflict if the local target has to be the base and has diverged.
Awaitable<Result<MergeView>> inspect_merge(Git& git, const MergeRequest& request);

/// Looks for all the work of `tip` in `target` (a commit): merged, rebased or squashed. Returns the commit that brought
/// it; empty if some of it is missing.
Awaitable<Result<std::string>> find_elsewhere(Git& git, std::string repo, std::string target, std::string tip);

/// Returns true if the branch's reflog shows that `commit` was made on the branch (committed, rebased, picked); false
/// if the branch was only moved to it.
Awaitable<Result<bool>> was_made_on(Git& git, std::string repo, std::string branch, std::string commit);

/// Makes the commit that `target` is to point at: a merge commit on `base`, with `squash` an ordinary commit on `base`
/// with the same files, or with `ff` the tip itself. No ref, index or checkout changes. conflict lists the files
/// (`details["files"]`), or says that ff is not possible. If the commit cannot be signed, the error is that of
/// make_commit() (signing.hpp).
Awaitable<Result<std::string>> build_merge(Git& git, const MergeRequest& request, MergeStrategy strategy,
                                           std::string base, std::string message);

/// Returns the files in which git cannot merge the tip into `base` by itself, as build_merge() would find them. Makes
/// and removes the scratch folder; changes nothing else.
Awaitable<Result<std::vector<std::string>>> conflicts_of(Git& git, const MergeRequest& request, std::string base);

/// Returns the tree of a commit. Two merges with the same files have the same tree.
Awaitable<Result<std::string>> tree_of(Git& git, std::string repo, std::string commit);

/// The result of a push.
enum class Pushed {
    landed,   ///< origin's branch contains the commit
    raced,    ///< origin's branch moved first: fetch, build again, push again
    unknown,  ///< the remote gave no answer: the commit may arrive
};
struct PushAnswer {
    Pushed state = Pushed::unknown;
    std::string why;  ///< the reason of `unknown`, one line
};

/// Pushes `commit` to origin's `target` if that still is at `expected` (empty: if it does not exist). An Error means
/// that origin refused the commit for certain: external_failed, with origin's reason in one line.
Awaitable<Result<PushAnswer>> push_merge(Git& git, const MergeRequest& request, std::string commit,
                                         std::string expected);

/// Returns true if `ref` exists and contains `commit`; false if the repository does not have the commit at all.
Awaitable<Result<bool>> has_commit(Git& git, std::string repo, std::string ref, std::string commit);

/// Updates the local target to `commit`. If a checkout is on the target, it runs `merge --ff-only` there, unless that
/// would touch an uncommitted file; otherwise it moves the branch by compare-and-swap. Success if the target contains
/// `commit` already, or does not exist. conflict says what is in the way, or that the local target has commits of its
/// own (`details["ahead"]`: their number).
Awaitable<Result<void>> follow(Git& git, const MergeRequest& request, std::string commit);

/// Keeps `tip` as `ref`. In the same transaction it deletes the local branch if the branch still is at `tip` and no
/// worktree has it checked out or runs a rebase or bisect of it. Returns true if the branch no longer exists.
Awaitable<Result<bool>> retire_branch(Git& git, Repository repo, std::string branch, std::string tip, std::string ref);

}  // namespace orange::git
