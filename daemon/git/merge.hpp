#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/async/async.hpp"
#include "daemon/git/git.hpp"

namespace orange::git {

enum class MergeStrategy { ff, merge };

struct MergeRequest {
    std::string repo;            ///< main worktree
    std::string scratch;         ///< a path for a private worktree; made and removed by merge()
    std::string branch;          ///< what is merged; origin's where there is no local one
    std::string tip;             ///< the commit that `branch` must be at; empty: whichever
    std::string default_branch;  ///< where to
    MergeStrategy strategy = MergeStrategy::merge;
    std::string message;  ///< of the merge commit
};

struct Merged {
    std::string commit;    ///< where the default branch now is
    bool pushed = false;   ///< origin has it too
    bool already = false;  ///< the branch was contained already
    std::string note;      ///< something the human should know; empty mostly
};

/// What is held while a merge works on the repository itself.
using LockRepository = std::function<Awaitable<async::Mutex::Lock>()>;

/// Merges `branch` into the default branch without touching the user's checkout: in a private worktree, then (with an
/// origin) pushed, then the local default branch moved by compare-and-swap, or by `merge --ff-only` in the checkout
/// that has it. Either all of it, or nothing has changed. conflict lists the conflicting files, or the user's own
/// uncommitted files in the way, or branches that diverged, or a branch that is not at `tip`. not_found where there is
/// no such branch.
///
/// `lock` is taken for the local steps, twice, and not held while origin is asked: a remote that is silent for minutes
/// holds up no other task of the repository. What changes meanwhile is seen, by the branch that is still where it was,
/// and by another look at who has it checked out. Two merges at once are the caller's to prevent: the push of the
/// second would be rejected.
Awaitable<Result<Merged>> merge(Git& git, MergeRequest request, LockRepository lock = {});

}  // namespace orange::git
