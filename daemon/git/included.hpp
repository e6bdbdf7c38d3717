#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

/// Copies the files that `.worktreeinclude` of a main checkout lists into new worktrees. The list has patterns as in
/// .gitignore, for files that git ignores and that a worktree needs, such as `.env`.
namespace orange::git {

/// Returns the files that `.worktreeinclude` matches and that git ignores in `repo`, without those whose path begins
/// with one of `never`. Empty if there is no such list.
Awaitable<Result<std::vector<std::string>>> included_files(Git& git, std::string repo, Pinned worktree,
                                                           std::vector<std::string> never);

/// Returns a sentence about `.env` files of the main checkout that git ignores and the list does not name, so that no
/// task has them, with the command that adds them; empty if there are none.
Awaitable<std::string> env_note(Git& git, std::string repo);

/// Copies the files of included_files() into `worktree`. Only regular files of the main checkout itself are copied: no
/// link is followed for reading or writing, and files that the worktree tracks stay as they are. `replace`: overwrites
/// files that exist. Returns a sentence for each file that was not copied, with the reason. There is no error, because
/// the worktree is usable without these files.
Awaitable<std::vector<std::string>> copy_included(Git& git, std::string repo, Pinned worktree,
                                                  std::vector<std::string> never, bool replace,
                                                  std::shared_ptr<Stop> stop);

}  // namespace orange::git
