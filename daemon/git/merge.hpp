#pragma once

#include <string>
#include <vector>

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

/// Merges `branch` into the default branch without touching the user's checkout: in a private worktree, then (with an
/// origin) pushed, then the local default branch moved by compare-and-swap, or by `merge --ff-only` in the checkout
/// that has it. Either all of it, or nothing has changed. conflict lists the conflicting files, or the user's own
/// uncommitted files in the way, or branches that diverged, or a branch that is not at `tip`. not_found where there is
/// no such branch.
Awaitable<Result<Merged>> merge(Git& git, MergeRequest request);

}  // namespace orange::git
