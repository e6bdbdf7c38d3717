#pragma once

#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// Returns the options with which `git` signs commits as the user's git would (commit.gpgsign); empty if it would not.
/// The programs are those of the user's and the machine's configuration: agents can write the repository's.
Awaitable<Result<std::vector<std::string>>> signing_options(Git& git, std::string repo);

/// Runs a `commit-tree` with the message `message`, by the user as configured, else by Orange; with `sign`
/// (signing_options()) it is signed. Nobody is asked for a passphrase: if the commit could be made, but not signed, the
/// Error has the reason in `details["unsigned"]`.
Awaitable<Result<std::string>> make_commit(Git& git, std::string repo, std::vector<std::string> args,
                                           std::string message, std::vector<std::string> sign);

}  // namespace orange::git
