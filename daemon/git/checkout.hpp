#pragma once

#include <optional>
#include <string>

#include "daemon/git/git.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {

/// Returns the worktree of `all` (of the repository with that git directory) that has `branch` checked out; nothing if
/// there is none. conflict if a rebase or bisect of that branch is under way in a worktree, because git moves the
/// branch at its end. An agent may have made or changed a linked worktree, so it counts only if it and the repository
/// point at each other.
Result<std::optional<Place>> checkout_of(const std::vector<Worktree>& all, const std::string& git_dir,
                                         const std::string& branch);

/// Returns true if a rebase or bisect in one of the worktrees will move the branch at its end, or if that cannot be
/// found out.
bool is_operated_on(const std::string& git_dir, const std::string& branch);

/// Succeeds if `checkout`, which has that git directory, can be fast-forwarded from `from` to `to` without a change to
/// uncommitted files, ignored ones included. Otherwise conflict, which lists the files in the way.
Awaitable<Result<void>> can_fast_forward(Git& git, Place checkout, std::string git_dir, std::string from,
                                         std::string to);

/// Lists `paths` for a message, one a line, at most twenty.
std::string list_of(const std::vector<std::string>& paths);

}  // namespace orange::git
