#pragma once

#include <string>

#include "daemon/git/git.hpp"
#include "daemon/git/standing.hpp"

/// Sparse worktrees: git leaves files out of them that the branch has.
namespace orange::git {

/// Returns true if an entry of `git ls-files -v` is for a file that git leaves out of the worktree: it is marked "skip
/// worktree", and nothing is at its path. Nobody deleted that file.
bool is_left_out(const std::string& entry, const std::string& path_of_file);

/// Marks the entries of a private index (GIT_INDEX_FILE in `env`) that the worktree's own index leaves out, with the
/// contents that the own index has for them. Otherwise `git add --all` would record those files as deleted.
Awaitable<Result<void>> leave_out_as_own_index(Git& git, Pinned worktree, std::map<std::string, std::string> env);

/// Makes a clean worktree as sparse as the repository's main worktree is, as `git worktree add` does: an earlier agent
/// may have changed it, or the user may have changed the main worktree since. `standing`: of the worktree.
Awaitable<Result<void>> match_sparse_checkout(Git& git, std::string repo, Pinned worktree, Standing standing);

}  // namespace orange::git
