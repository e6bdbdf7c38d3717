#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace orange::git {

/// A worktree that somebody else than Orange has added to a repository: an agent, or a person.
struct Stray {
    std::string admin;  ///< the name of its folder in the repository's .git/worktrees
    std::string path;
    std::string below;       ///< its path, from the folder that was asked for
    std::string branch;      ///< without refs/heads/; empty if HEAD is on none
    bool is_gone = false;    ///< its folder does not exist any more, or is no worktree
    bool is_locked = false;  ///< by `git worktree lock`
    std::int64_t added = 0;  ///< when, in seconds since 1970
};

/// All worktrees of a repository whose folder is below `folder`, by git's own files; nothing below `folder` is read.
Result<std::vector<Stray>> worktrees_below(const std::string& common_dir, const std::string& folder);

}  // namespace orange::git
