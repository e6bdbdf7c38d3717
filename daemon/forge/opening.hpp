#pragma once

#include <string>

#include "daemon/forge/forge.hpp"

namespace orange::forge {

/// Returns the open pull request of a branch among `all`: the one at the commit `tip`, else the one into `base`, else
/// the newest. nullptr if none is open.
const PullRequest* open_one(const std::vector<PullRequest>& all, std::string_view tip, std::string_view base);

struct OpenPull {
    PullRequest pull;
    bool adopted = false;  ///< it existed already
};

/// Returns the open pull request of `request.head`, whose commit is `tip`: the existing one, or else a new one. After
/// create() it always asks the forge again, so that two concurrent calls end with the same pull request and one whose
/// reply was lost is found. Closed and merged pull requests do not count.
Awaitable<Result<OpenPull>> open_pull_request(Forge& forge, NewPullRequest request, std::string tip);

}  // namespace orange::forge
