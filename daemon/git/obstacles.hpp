#pragma once

#include <set>
#include <string>

#include "daemon/git/pinned.hpp"

/// Removes files and folders that git ignores, or cannot remove, when it resets a worktree.
namespace orange::git {

/// Removes the pipes, sockets and devices at the top and in folders with tracked files. Git neither shows nor removes
/// them, and the next agent's `cat *` would block on a pipe. Returns true if there may be a folder without files: `git
/// status` does not show it, and only `git clean` removes it.
Result<bool> remove_special_files(const Pinned& worktree, const std::set<std::string>& folders);

/// Lets the owner write into the read-only folders of a worktree, for example those of a Go module cache. Returns true
/// if there were any.
bool make_folders_writable(int worktree);

}  // namespace orange::git
