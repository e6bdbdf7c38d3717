#pragma once

#include <set>
#include <string>
#include <vector>

#include "daemon/git/repository.hpp"

namespace orange::git {

/// The counts of what clean_up() removed from a repository, and of what it kept.
struct CleanedUp {
    std::size_t refs = 0;           ///< below refs/orange/ that were removed
    std::size_t branches = 0;       ///< that were removed
    std::size_t kept_refs = 0;      ///< below refs/orange/ with commits that the default branch does not have
    std::size_t kept_branches = 0;  ///< of `branches` that hold such commits, are checked out, or follow a remote
};

/// Removes the refs below refs/orange/ and those of `branches` whose commits are all in `target` or in origin's branch
/// of that name: no commit becomes unreachable. Keeps a branch that is checked out, is being rebased, follows a branch
/// of a remote, or is `target` itself. All removals are one transaction of git. not_found if `target` exists nowhere.
Awaitable<Result<CleanedUp>> clean_up(Git& git, Repository repo, std::string target, std::set<std::string> branches);

}  // namespace orange::git
