#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// The ref of the newest stash.
inline constexpr const char* k_stash = "refs/stash";

/// A ref, and for a branch how it relates to a remote and to the worktrees.
struct Ref {
    std::string commit;
    std::string upstream;        ///< the remote of the upstream branch; empty: the branch has no upstream
    bool upstream_gone = false;  ///< the upstream branch no longer exists at its remote
    std::string worktree;  ///< the worktree that has the branch checked out, as git resolves its path; empty: none
    bool operator==(const Ref&) const = default;
};
using Refs = std::map<std::string, Ref>;

/// Returns those of `names` ("refs/heads/main") that exist, with one git process.
Awaitable<Result<Refs>> refs(Git& git, Place repo, std::vector<std::string> names);

/// Some refs of a repository, as they are at each call of now(). Starts git for the first call, and then only if a file
/// that decides about the answer has changed since, or if the files do not tell.
class RefsView {
  public:
    RefsView(std::string repo, std::vector<std::string> names) : repo_(std::move(repo)), names_(std::move(names)) {}
    /// Returns what refs() returns. `upstream_gone` may be outdated for an upstream that has another name.
    Awaitable<Result<Refs>> now(Git& git);

  private:
    std::string repo_;
    std::vector<std::string> names_;
    std::string files_;  ///< what decided about `known_`; empty: git is asked again
    Refs known_;
};

/// Returns the names to query with refs() for base_of() and for checkout_branch().
std::vector<std::string> refs_of_branch(const std::string& branch);

/// Returns a ref as people call it: "main", "origin/main".
std::string shown_ref(const std::string& ref);

struct Base {
    std::string ref, commit;
};

/// The place of merges in a repository that has an origin: origin, or the local branch alone.
enum class MergesTo { origin, local };

/// Returns the commit that new work starts at: refs/remotes/origin/<branch> if it exists, otherwise
/// refs/heads/<branch>. With local merges the local branch comes first, unless origin's contains it. not_found if
/// origin used to have the branch and has only others now: the branch was renamed at origin, and the local one is
/// outdated.
Awaitable<Result<Base>> base_of(Git& git, std::string repo, std::string default_branch, const Refs& known,
                                MergesTo merges = MergesTo::origin);

}  // namespace orange::git
