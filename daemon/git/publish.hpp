#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

/// What leaves the repository for its origin, and what a pull request is made of.
namespace orange::git {

/// The URL of origin as git would use it (insteadOf applied); empty where there is no such remote. It may hold a
/// password: never shown as it is.
Awaitable<Result<std::string>> origin_url(Git& git, std::string repo);

struct PushedBranch {
    std::string url;  ///< where its server says that a pull or merge request is, or is opened; empty: it says nothing
};

/// Pushes the local branch to origin's branch of the same name, never with force. Success where it is there already.
/// Errors say what to do: not_found (no origin, no such branch), conflict (origin has other commits), unavailable
/// (not reached), external_failed (refused there).
Awaitable<Result<PushedBranch>> push_branch(Git& git, std::string repo, std::string branch);

/// The text of the first of `names` (compared without regard to case, "docs/x.md") that is a regular file in the tree
/// of `ref`; nothing where none is. What a worktree holds does not matter, nor where a link there leads.
Awaitable<Result<std::optional<std::string>>> first_file_at(Git& git, std::string repo, std::string ref,
                                                            std::vector<std::string> names);

}  // namespace orange::git
