#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

inline constexpr const char* k_stash = "refs/stash";

struct Ref {
    std::string commit;
    std::string upstream;        ///< the remote of the branch that this one follows; empty: it follows none
    bool upstream_gone = false;  ///< it follows one that its remote has no more
    std::string worktree;        ///< where the branch is checked out, as git resolves it; empty: nowhere
};
using Refs = std::map<std::string, Ref>;

/// Those of `names` ("refs/heads/main") that exist, in one process.
Awaitable<Result<Refs>> refs(Git& git, Place repo, std::vector<std::string> names);

/// What refs() has to be asked for base_of(), and for a branch that checkout_branch() shall put a worktree on.
std::vector<std::string> refs_of_branch(const std::string& branch);

struct Base {
    std::string ref, commit;
};

/// What new work begins at: refs/remotes/origin/<branch> if it exists, else refs/heads/<branch>. not_found if origin
/// had that branch and has others now: it was renamed, and the local one is what nobody follows any more.
Awaitable<Result<Base>> base_of(Git& git, std::string repo, std::string default_branch, const Refs& known);

}  // namespace orange::git
