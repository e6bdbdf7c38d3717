#pragma once

#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// The settings of git's configuration for the commits that Orange makes.
struct CommitSettings {
    /// The options that make git sign commits as the user's git would (commit.gpgsign); empty if it would not. The
    /// programs are those of the user's and the machine's configuration, because agents can write the repository's.
    std::vector<std::string> sign;
    std::vector<std::string> missing;  ///< missing_of() (committer.hpp)
};
/// Reads the settings, with one git process.
Awaitable<Result<CommitSettings>> commit_settings(Git& git, std::string repo);

/// Makes an unsigned commit, by the user as configured or else by Orange. `who` receives the variables that name
/// Orange.
Awaitable<Result<std::string>> unsigned_commit(Git& git, Place place, std::vector<std::string> args,
                                               std::string message, std::map<std::string, std::string>& who);

/// Runs a `commit-tree` with `message`, by the user as configured or else by Orange, and returns the commit. With
/// `sign` (CommitSettings::sign) the commit is signed. There is no prompt for a passphrase: if the commit could be made
/// but not signed, the Error has the reason in `details["unsigned"]`.
Awaitable<Result<std::string>> make_commit(Git& git, std::string repo, std::vector<std::string> args,
                                           std::string message, std::vector<std::string> sign);

}  // namespace orange::git
