#pragma once

#include <optional>
#include <string>

#include "daemon/git/git.hpp"
#include "daemon/git/worktrees.hpp"

namespace orange::git {

/// The worktree of `all` (of the repository with that git directory) that is on `branch`; nothing where none is.
/// conflict where a rebase or bisect of that branch is under way somewhere: git moves the branch when that ends. A
/// linked one, which an agent may have made or changed, counts only if it and the repository point at each other.
Result<std::optional<Place>> checkout_of(const std::vector<Worktree>& all, const std::string& git_dir,
                                         const std::string& branch);

/// Whether git will move the branch when a rebase or bisect ends, in whichever worktree; also where it cannot be told.
bool is_operated_on(const std::string& git_dir, const std::string& branch);

/// Success where `checkout`, which has that git directory, can be fast-forwarded from `from` to `to` without touching
/// anything that is not committed there, ignored files included; else conflict, listing what is in the way.
Awaitable<Result<void>> can_fast_forward(Git& git, Place checkout, std::string git_dir, std::string from,
                                         std::string to);

/// `paths` for a message: a line each, cut after twenty.
std::string list_of(const std::vector<std::string>& paths);

}  // namespace orange::git
