#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::git {

/// A worktree that an agent or a person, but not Orange, has added to a repository.
struct Stray {
    std::string admin;  ///< the name of its folder in the repository's .git/worktrees
    std::string path;
    std::string below;       ///< its path relative to the folder that was searched
    std::string branch;      ///< without refs/heads/; empty if HEAD is on no branch
    bool is_gone = false;    ///< its folder does not exist any more, or is no worktree
    bool is_locked = false;  ///< by `git worktree lock`
    std::int64_t added = 0;  ///< time of `git worktree add`, in seconds since 1970
};

/// Returns all worktrees of a repository whose folder is below `folder`, by the repository's own records; the worktrees
/// themselves are not read.
Result<std::vector<Stray>> worktrees_below(const std::string& common_dir, const std::string& folder);

}  // namespace orange::git
