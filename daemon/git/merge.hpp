#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/names.hpp"
#include "daemon/git/git.hpp"
#include "daemon/git/repository.hpp"

/// The steps of a merge. Each one may be repeated after a crash; none of them remembers anything. The runner calls them
/// in order and writes down how far it has come (daemon/runner/merge_run.hpp).
///
///     fetch → inspect_merge → find_elsewhere → build_merge → push_merge → follow
///
/// The caller holds the repository's lock for everything but fetch and push_merge, which wait for the remote.
namespace orange::git {

enum class MergeStrategy {
    merge,   ///< a merge commit
    ff,      ///< the branch itself: the target is fast-forwarded to it
    squash,  ///< one commit with all changes of the branch
};
inline constexpr std::array<std::string_view, 3> k_merge_strategies = {"merge", "ff", "squash"};
constexpr std::string_view name_of(MergeStrategy strategy) {
    return k_merge_strategies[static_cast<std::size_t>(strategy)];
}
constexpr std::optional<MergeStrategy> from_name(std::string_view name, MergeStrategy) {
    for (std::size_t i = 0; i < k_merge_strategies.size(); ++i) {
        if (k_merge_strategies[i] == name) return static_cast<MergeStrategy>(i);
    }
    return std::nullopt;
}

/// What is merged, and into what.
struct MergeRequest {
    std::string repo;                     ///< main worktree
    std::string git_dir = {};             ///< of `repo`; empty: it is asked for
    std::optional<bool> has_origin = {};  ///< nothing: it is asked for
    std::string scratch;                  ///< a path for a folder that build_merge() makes and removes
    std::string branch;                   ///< what is merged
    std::string tip;                      ///< its commit
    std::string target;                   ///< the default branch
    std::string shown_base = {};          ///< "origin/main", for messages; empty: `target`
    bool push = true;                     ///< origin gets the merge
    std::vector<std::string> sign = {};   ///< as commit_settings() (signing.hpp); empty: the merge is not signed
    bool include_unpushed = false;
    std::string base = {};  ///< what the commit that is published was built on; empty: not known
    /// Merges that Orange made and did not push: result → the commit of `target` that it was built on.
    std::map<std::string, std::string> unpushed;
};

/// The commits from which a merge begins; an empty commit means that there is no such ref.
struct MergeView {
    std::string local;   ///< `target` here
    std::string remote;  ///< `target` at origin, as it was fetched; empty if there is no origin
    std::string base;    ///< the commit that the merge is built on
    std::string tip;     ///< the branch that is merged: as branch_tip()
};

/// Where a branch is: the local one, else origin's as it was fetched last. not_found if there is neither.
Awaitable<Result<std::string>> branch_tip(Git& git, std::string repo, std::string branch);

/// Reads the refs and chooses the base. With `push` that is origin's commit, so that commits of the local branch which
/// the user has not pushed stay out, except for merges in `unpushed` and for a merge of this very branch. not_found if
/// the target does not exist; conflict if the local target has to be the base and has diverged.
Awaitable<Result<MergeView>> inspect_merge(Git& git, const MergeRequest& request);

/// The commit of `target` (a commit) that brought the work of `tip`, if all of it is there: merged, rebased or
/// squashed. Empty if it is not.
Awaitable<Result<std::string>> find_elsewhere(Git& git, std::string repo, std::string target, std::string tip);

/// True if the branch's own log says that `commit` was made on it (committed, rebased, picked), rather than that the
/// branch was moved to it.
Awaitable<Result<bool>> was_made_on(Git& git, std::string repo, std::string branch, std::string commit);

/// Makes the commit that `target` is to be at: a merge commit on `base`, with `squash` a commit on `base` that has the
/// same files, or with `ff` the tip itself. It is an object
/// without a ref; no ref, index or checkout changes. conflict lists the files (`details["files"]`), or says that ff is
/// not possible. As make_commit() (signing.hpp) if it is to be signed and cannot be.
Awaitable<Result<std::string>> build_merge(Git& git, const MergeRequest& request, MergeStrategy strategy,
                                           std::string base, std::string message);

/// The tree of a commit: two merges with the same files have the same one.
Awaitable<Result<std::string>> tree_of(Git& git, std::string repo, std::string commit);

/// What became of one push.
enum class Pushed {
    landed,   ///< origin's branch contains the commit
    raced,    ///< it moved before: fetch, build again, push again
    unknown,  ///< the remote gave no answer: the commit may arrive
};
struct PushAnswer {
    Pushed state = Pushed::unknown;
    std::string why;  ///< one line; of `unknown`
};

/// Pushes `commit` to origin's `target` if that still is at `expected` (empty: if it does not exist). An Error is a
/// refusal after which origin has not taken the commit: external_failed, with origin's reason in one line.
Awaitable<Result<PushAnswer>> push_merge(Git& git, const MergeRequest& request, std::string commit,
                                         std::string expected);

/// True if `ref` exists and contains `commit`; false if the repository does not have the commit at all.
Awaitable<Result<bool>> has_commit(Git& git, std::string repo, std::string ref, std::string commit);

/// Brings the local target to `commit`: with `merge --ff-only` in the checkout that is on it, if that touches no
/// uncommitted file, else by compare-and-swap. Success if it contains the commit already, or does not exist. conflict
/// says what is in the way, or that the local target has commits of its own (`details["ahead"]`: how many).
Awaitable<Result<void>> follow(Git& git, const MergeRequest& request, std::string commit);

/// Keeps `tip` as `ref`, and with that deletes the local branch if it still is at `tip` and no worktree is on it or has
/// a rebase or bisect of it under way. True if the branch is gone.
Awaitable<Result<bool>> retire_branch(Git& git, Repository repo, std::string branch, std::string tip, std::string ref);

/// Removes what a killed daemon, also one of an older version, left of a merge: the folder, and its registration as a
/// worktree.
Awaitable<Result<void>> remove_scratch(Git& git, std::string repo, std::string scratch);

}  // namespace orange::git
