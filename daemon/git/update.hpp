#pragma once

#include <string>

#include "daemon/git/git.hpp"
#include "daemon/git/pinned.hpp"

namespace orange::git {

/// Merges `commit` into `branch` in `worktree`, which has it checked out; fast-forwards if possible. Returns the
/// branch's new commit, or the old one if it contains `commit` already. conflict lists the files (`details["files"]`)
/// and leaves the conflicts in the worktree, as git merge does, to be resolved there. The caller has called
/// head_to_merge_into().
Awaitable<Result<std::string>> merge_here(Git& git, Pinned worktree, std::string branch, std::string commit,
                                          std::string message);

/// Checks that merge_here() cannot do harm, and returns HEAD. HEAD must be on `branch`, no tracked file may be edited,
/// no operation may be under way, and `commit` must not add a file at the path of an untracked one (git merge
/// overwrites ignored files). Otherwise conflict, with what is wrong ("has uncommitted changes").
Awaitable<Result<std::string>> head_to_merge_into(Git& git, Pinned worktree, std::string branch, std::string commit);

}  // namespace orange::git
