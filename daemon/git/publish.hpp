#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

/// Publishes a branch to its origin, and reads the template of a pull request.
namespace orange::git {

/// Returns the URL of origin as git would use it (insteadOf applied); empty if there is no such remote. The URL may
/// hold a password, so it must never be shown unchanged.
Awaitable<Result<std::string>> origin_url(Git& git, std::string repo);

struct PushedBranch {
    std::string
        url;  ///< the server's URL of the pull or merge request, or of the page that opens one; empty: it printed none
};

/// Pushes the local branch to origin's branch of the same name, never with force. Success if origin has it already. The
/// messages of errors contain the way out: not_found (no origin, no such branch), conflict (origin has other commits),
/// unavailable (not reachable), external_failed (refused by origin).
Awaitable<Result<PushedBranch>> push_branch(Git& git, std::string repo, std::string branch);

/// Returns the text of the first of `names` ("docs/x.md", compared without regard to case) that is a regular file in
/// the tree of `ref`; nothing if there is none. Only the commit is read: no file of a worktree, and no link.
Awaitable<Result<std::optional<std::string>>> first_file_at(Git& git, std::string repo, std::string ref,
                                                            std::vector<std::string> names);

}  // namespace orange::git
