#pragma once

#include <string>

#include "daemon/forge/forge.hpp"

namespace orange::forge {

/// The open one among `all` that is a branch's: the one at the commit `tip`, else the one into `base`, else the newest.
/// nullptr: none is open.
const PullRequest* open_one(const std::vector<PullRequest>& all, std::string_view tip, std::string_view base);

struct OpenPull {
    PullRequest pull;
    bool adopted = false;  ///< it was there
};

/// The open pull request of `request.head`, whose commit is `tip`: the one that exists, else a new one. Whatever create
/// says, the forge is asked again afterwards: two calls make one, and one whose answer was lost is found. Closed and
/// merged ones do not count.
Awaitable<Result<OpenPull>> open_pull_request(Forge& forge, NewPullRequest request, std::string tip);

}  // namespace orange::forge
