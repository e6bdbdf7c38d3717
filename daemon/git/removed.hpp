#pragma once

#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

struct RemovedCommit {
    std::string commit;
    std::string line;  ///< "1a2b3c4 Its subject"
};

/// Returns the commits of `tip` that `ref` had once and does not have any more, newest first: the branch behind `ref`
/// was moved back or rewritten, and a merge of `tip` would bring them back. The log of `ref` says what it had; commits
/// whose change `ref` has in another commit do not count.
Awaitable<Result<std::vector<RemovedCommit>>> removed_commits(Git& git, std::string repo, std::string ref,
                                                              std::string tip);

}  // namespace orange::git
