#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// Returns true if git's own folder for a worktree has repositories of submodules.
bool has_modules(const Pinned& worktree);

/// Checks out the submodules of HEAD in a worktree in which no agent works, and those inside them, from the
/// repositories of submodules that `from` (git directories) have. Nothing is fetched from elsewhere: the commit names
/// the addresses, and an agent may have written it. Returns a sentence for each submodule that could not be had.
Awaitable<std::vector<std::string>> check_out_submodules(Git& git, Pinned worktree, std::vector<std::string> from,
                                                         std::shared_ptr<Stop> stop);

/// A submodule whose commit a branch changes.
struct SubmoduleChange {
    std::string path;
    std::string commit;
};

/// Returns the submodules that `tip` has at commits which none of their remotes has. The search covers changes since
/// `tip` left `base`, and at the submodules whose repository is here, in the main repository or in `worktree` (unless
/// it is walled). `may_fetch`: a remote is fetched if its branches as of the last fetch do not have the commit, or if
/// no repository here has the commit.
Awaitable<Result<std::vector<SubmoduleChange>>> unpublished_submodules(Git& git, std::string repo,
                                                                       std::optional<Pinned> worktree, std::string base,
                                                                       std::string tip, bool may_fetch);

}  // namespace orange::git
