#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// True if git's own folder for a worktree has repositories of submodules.
bool has_modules(const Pinned& worktree);

/// A submodule whose commit a branch changes.
struct SubmoduleChange {
    std::string path;
    std::string commit;
};

/// Returns the submodules that `tip` has at commits that none of their remotes has, as far as the repositories of the
/// submodules are here: in the main repository, or in `worktree`. Compared with where `tip` left `base`. `may_fetch`: a
/// remote is asked if its branches, as they were fetched last, do not have the commit.
Awaitable<Result<std::vector<SubmoduleChange>>> unpublished_submodules(Git& git, std::string repo,
                                                                       std::optional<Pinned> worktree, std::string base,
                                                                       std::string tip, bool may_fetch);

}  // namespace orange::git
