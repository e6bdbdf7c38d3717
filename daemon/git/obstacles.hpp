#pragma once

#include <set>
#include <string>

#include "daemon/git/pinned.hpp"

/// Files and folders that git passes over, or cannot remove, when it resets a worktree.
namespace orange::git {

/// Removes the pipes, sockets and devices in folders that have tracked files, and at the top. Git shows and removes
/// none of them, and the next agent's `cat *` would wait for a pipe. Returns true if there may be a folder without any
/// file, which `git status` does not show, and which only `git clean` removes.
Result<bool> remove_special_files(const Pinned& worktree, const std::set<std::string>& folders);

/// Lets the owner write into the folders of a worktree that are read-only, as those of a Go module cache are. Returns
/// true if there were any.
bool make_folders_writable(int worktree);

}  // namespace orange::git
