#pragma once

#include <set>
#include <string>

#include "daemon/git/repository.hpp"

namespace orange::git {

/// The counts of what clean_up() removed from a repository, and of what it kept.
struct CleanedUp {
    std::size_t refs = 0;      ///< below refs/orange/ that were removed
    std::size_t branches = 0;  ///< below orange-tasks/, or of `own`, that were removed
    std::size_t kept = 0;      ///< of both, that hold commits which `target` does not have, or are in use
};

/// Removes the refs below refs/orange/ and the branches below orange-tasks/, and those of `own`, whose commits are all
/// in `target` or in origin's branch of that name: no commit becomes unreachable. Keeps a branch that is checked out,
/// is being rebased, or follows a branch of a remote. All removals are one transaction of git. not_found if `target`
/// exists nowhere.
Awaitable<Result<CleanedUp>> clean_up(Git& git, Repository repo, std::string target, std::set<std::string> own = {});

}  // namespace orange::git
