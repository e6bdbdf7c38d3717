#pragma once

#include <optional>
#include <string>

#include "daemon/git/pinned.hpp"

/// Repositories that agents make inside their worktrees.
namespace orange::git {

/// A repository below a worktree, as it was when it was opened: no other that comes into its place is read or changed.
struct Nested {
    Pinned outer;                      ///< the worktree's git, run in this repository's folder
    std::optional<Pinned> repository;  ///< itself, if its .git is a folder
    bool is_whole = false;             ///< and all of it lies in that folder; nothing is written there if it does not
};

/// io if a link is on the way to it, conflict if its .git has more than git makes.
Result<Nested> open_nested(const Pinned& worktree, const std::string& relative);

/// Without its .git its files are the worktree's own. conflict if another one is there by now.
Result<void> remove_git_of(const Nested& nested);

}  // namespace orange::git
