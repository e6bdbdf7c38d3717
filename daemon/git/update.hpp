#pragma once

#include <string>

#include "daemon/git/git.hpp"
#include "daemon/git/pinned.hpp"

namespace orange::git {

/// Merges `commit` into the branch that `worktree` is on, there; a fast-forward if possible. Returns the branch's
/// commit, the old one if it contains `commit` already. conflict lists the files (`details["files"]`) and leaves them
/// in the worktree, as git merge does, for somebody to resolve. The caller has made sure that nothing is uncommitted.
/// Files that git does not track stay where they are; git refuses a merge that would write over one.
Awaitable<Result<std::string>> merge_here(Git& git, Pinned worktree, std::string commit, std::string message);

/// HEAD of a worktree that merge_here() can do no harm: it is on `branch`, no tracked file is edited, and no operation
/// is under way. Else conflict, with what is the matter ("has uncommitted changes").
Awaitable<Result<std::string>> head_to_merge_into(Git& git, Pinned worktree, std::string branch);

}  // namespace orange::git
