#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

/// `.worktreeinclude` of a main checkout: patterns as in .gitignore for files that git ignores and that worktrees need
/// (`.env`).
namespace orange::git {

/// The files that it names, and that git ignores in `repo`, without those whose path begins with one of `never`. None
/// if there is no such list.
Awaitable<Result<std::vector<std::string>>> included_files(Git& git, std::string repo, Pinned worktree,
                                                           std::vector<std::string> never);

/// Copies the files that it names, and that git ignores in `repo`, into `worktree`. Only regular files of the main
/// checkout itself: nothing is read or written through a link, and what the worktree tracks stays as it is. Files whose
/// path begins with one of `never` are left out. `replace`: also over files that are there. Returns what was not copied
/// and why, as sentences; nothing is an error, since a worktree can be worked in without.
Awaitable<std::vector<std::string>> copy_included(Git& git, std::string repo, Pinned worktree,
                                                  std::vector<std::string> never, bool replace,
                                                  std::shared_ptr<Stop> stop);

}  // namespace orange::git
