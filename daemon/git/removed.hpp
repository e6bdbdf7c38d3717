#pragma once

#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// A commit that a branch had and has lost, with its line for people.
struct RemovedCommit {
    std::string commit;
    std::string line;  ///< "1a2b3c4 Its subject"
};

/// Returns the commits of `tip` that `ref` used to have and has lost, newest first: the branch of `ref` was moved back
/// or rewritten, and a merge of `tip` would bring these commits back. The reflog of `ref` tells which commits it had.
/// Commits whose change is in `ref` as another commit do not count.
Awaitable<Result<std::vector<RemovedCommit>>> removed_commits(Git& git, std::string repo, std::string ref,
                                                              std::string tip);

}  // namespace orange::git
