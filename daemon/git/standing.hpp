#pragma once

#include <set>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// How a worktree stands, told by git in two processes. What is not `known` (a broken index, say) is for the functions
/// of worktrees.hpp to find out one by one.
struct Standing {
    bool known = false;
    std::string head;      ///< the commit; empty on a branch that has none yet
    std::string branch;    ///< without refs/heads/; empty if HEAD is on no branch
    bool is_held = false;  ///< something other than this worktree's HEAD has that commit
    /// Nothing is uncommitted, no operation (rebase, merge …) is under way, and git ignores no change.
    bool clean = false;
    /// Not clean, but all that is uncommitted is in files: nothing is staged, in conflict, under way or passed over.
    bool only_files = false;
    /// The worktree is sparse: the branch has files that are not in it.
    bool leaves_files_out = false;
    /// There may be repositories inside that are no submodules of HEAD's.
    bool may_hold_repositories = false;
    std::vector<std::string> uncommitted = {};  ///< as shown_path(); the first twenty of which status tells
    std::set<std::string> at_top;               ///< files that the index has at its top
    std::set<std::string> folders;              ///< all folders that have tracked files, without the top
};

/// Returns what git has begun in the worktree that has this git directory and has not finished, such as "merge"; empty
/// if there is nothing.
std::string operation_under_way(const std::string& git_dir);

Awaitable<Result<Standing>> standing_of(Git& git, Pinned worktree);

}  // namespace orange::git
