#pragma once

#include <string>

#include "daemon/git/git.hpp"

/// What a task's branch may be called, and where a new one may begin.
namespace orange::git {

/// A branch's name made of a summary: "Fix the login redirect" → "fix-the-login-redirect". Lower-case ASCII letters,
/// digits and single dashes, at most 48 bytes, cut between words; empty where the summary has nothing to make it of.
std::string branch_name_from(const std::string& summary);

/// What there is of a branch before a task works on it. By the refs that were fetched last.
struct BranchState {
    bool local = false;
    bool remote = false;     ///< origin has it
    std::string clash;       ///< a branch beside which git cannot make this one ("fix" and "fix/total"); empty: none
    std::string checkout;    ///< the worktree that is on it; empty: none
    bool is_gone = false;    ///< the folder of that worktree does not exist
    bool is_locked = false;  ///< `git worktree prune` does not forget that worktree
    bool exists() const { return local || remote; }
};
Awaitable<Result<BranchState>> branch_state(Git& git, std::string repo, std::string branch);

/// Where `base` (a branch of the repository or of origin, a tag, a commit) is: a full ref, or a commit's hash where no
/// ref is named so. not_found where there is no such thing.
Awaitable<Result<std::string>> resolve_base(Git& git, std::string repo, std::string base);

}  // namespace orange::git
