#pragma once

#include <set>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// The state of a worktree, which two git processes find out. If it is not `known`, for example because the index is
/// broken, the functions of worktrees.hpp query each fact themselves.
struct WorktreeStatus {
    bool known = false;
    std::string head;      ///< the commit; empty on a branch that has none yet
    std::string branch;    ///< without refs/heads/; empty if HEAD is on no branch
    bool is_held = false;  ///< another ref or HEAD has the commit, too, so that it cannot get lost
    /// The worktree has no uncommitted changes, no operation (rebase, merge …) is under way, and no file is marked to
    /// be skipped by git.
    bool clean = false;
    /// The worktree is not clean, but all uncommitted changes are in files: nothing is staged, in conflict or marked to
    /// be skipped, and no operation is under way.
    bool only_files = false;
    /// The worktree is sparse: the branch has files that are not in it.
    bool leaves_files_out = false;
    /// There may be repositories inside that are not submodules of HEAD.
    bool may_hold_repositories = false;
    std::vector<std::string> uncommitted = {};  ///< as shown_path(); the first twenty that status names
    std::set<std::string> at_top;               ///< files that the index has at its top
    std::set<std::string> folders;              ///< all folders that have tracked files, without the top
};

/// Returns what git has begun in the worktree that has this git directory and has not finished, such as "merge"; empty
/// if there is nothing.
std::string operation_under_way(const std::string& git_dir);

Awaitable<Result<WorktreeStatus>> worktree_status(Git& git, Pinned worktree);

}  // namespace orange::git
