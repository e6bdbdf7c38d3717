#pragma once

#include <string>

#include "daemon/git/git.hpp"

/// Checks and makes the names of tasks' branches, and finds the commit that a new branch starts at.
namespace orange::git {

/// Makes a branch name from a summary: "Fix the login redirect" → "fix-the-login-redirect". The name has lower-case
/// ASCII letters, digits and single dashes, at most 48 bytes, and is cut between words. The result is empty if the
/// summary has no letters or digits.
std::string branch_name_from(const std::string& summary);

/// A branch as it is before a task works on it, by the refs that were fetched last.
struct BranchState {
    bool local = false;
    bool remote = false;     ///< origin has the branch
    std::string clash;       ///< a branch whose name rules this one out in git ("fix" and "fix/total"); empty: none
    std::string checkout;    ///< the worktree that has the branch checked out; empty: none
    bool is_gone = false;    ///< the folder of that worktree does not exist
    bool is_locked = false;  ///< that worktree is locked, so `git worktree prune` keeps its registration
    bool exists() const { return local || remote; }
};
/// Returns the state of `branch`, which does not need to exist.
Awaitable<Result<BranchState>> branch_state(Git& git, std::string repo, std::string branch);

/// Resolves `base`, a branch of the repository or of origin, a tag or a commit. Returns a full ref, or the commit's
/// hash if no ref has that name. not_found if there is neither.
Awaitable<Result<std::string>> resolve_base(Git& git, std::string repo, std::string base);

}  // namespace orange::git
