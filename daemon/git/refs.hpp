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

/// As people call it: "main", "origin/main".
std::string shown_ref(const std::string& ref);

struct Base {
    std::string ref, commit;
};

/// Where merges go in a repository that has an origin: to origin, or into the local branch alone.
enum class MergesTo { origin, local };

/// What new work begins at: refs/remotes/origin/<branch> if it exists, else refs/heads/<branch>, which comes first
/// where merges are local, unless origin's has all of it. not_found if origin had that branch and has others now: it
/// was renamed, and the local one is what nobody follows any more.
Awaitable<Result<Base>> base_of(Git& git, std::string repo, std::string default_branch, const Refs& known,
                                MergesTo merges = MergesTo::origin);

}  // namespace orange::git
