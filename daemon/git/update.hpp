#pragma once

#include <string>

#include "daemon/git/git.hpp"
#include "daemon/git/pinned.hpp"

namespace orange::git {

/// Merges `commit` into `branch`, which `worktree` is on, there; a fast-forward if possible. Returns the branch's
/// commit, the old one if it contains `commit` already. conflict lists the files (`details["files"]`) and leaves them
/// in the worktree, as git merge does, for somebody to resolve. The caller has asked head_to_merge_into().
Awaitable<Result<std::string>> merge_here(Git& git, Pinned worktree, std::string branch, std::string commit,
                                          std::string message);

/// HEAD of a worktree that merge_here() can do no harm: it is on `branch`, no tracked file is edited, and no operation
/// is under way, and `commit` brings no file in whose place there is one that git does not track (git merge writes over
/// ignored ones). Else conflict, with what is the matter ("has uncommitted changes").
Awaitable<Result<std::string>> head_to_merge_into(Git& git, Pinned worktree, std::string branch, std::string commit);

}  // namespace orange::git
