#pragma once

#include <string>

#include "daemon/git/git.hpp"
#include "daemon/git/worktree_status.hpp"

/// Supports sparse worktrees: worktrees in which git leaves out files of the branch.
namespace orange::git {

/// Returns true if an entry of `git ls-files -v` is for a file that git leaves out of the worktree: it is marked "skip
/// worktree", and nothing is at its path. Such a file does not count as deleted.
bool is_left_out(const std::string& entry, const std::string& path_of_file);

/// Marks the entries of a private index (GIT_INDEX_FILE in `env`) that the worktree's own index leaves out, with the
/// contents that the own index has for them. Otherwise `git add --all` would record those files as deleted.
Awaitable<Result<void>> leave_out_as_own_index(Git& git, Pinned worktree, std::map<std::string, std::string> env);

/// Makes a clean worktree as sparse as the repository's main worktree, as `git worktree add` does. The two may differ
/// because an earlier agent changed the worktree, or the user the main worktree. `standing`: of the worktree.
Awaitable<Result<void>> match_sparse_checkout(Git& git, std::string repo, Pinned worktree, WorktreeStatus standing);

}  // namespace orange::git
