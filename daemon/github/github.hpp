#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "daemon/async/awaitable.hpp"

namespace orange {

struct PullRequest {
    std::int64_t number = 0;
    std::string url;
    std::string state;  ///< "OPEN", "CLOSED" or "MERGED", as GitHub says

    bool operator==(const PullRequest&) const = default;
};

struct NewPullRequest {
    std::string repository;  ///< as repository_of() says
    std::string base;        ///< branches of that repository
    std::string head;
    std::string title;
    std::string body;  ///< Markdown; any bytes, any length that GitHub takes
};

/// Pull requests at GitHub. What cannot be found out is an Error, never "there is none": a caller that opens or moves
/// something on the answer must be able to rely on it. Errors are sentences with the way out: not_found (gh is not
/// installed, no such repository), unavailable (not logged in, not reached, asked too often), timeout, conflict (there
/// is one already), external_failed.
class GitHub {
  public:
    virtual ~GitHub() = default;
    /// All pull requests from that branch of the repository itself (not of a fork), newest first.
    virtual Awaitable<Result<std::vector<PullRequest>>> list(std::string repository, std::string head) = 0;
    /// Opens one and returns its URL. conflict where an open one exists.
    virtual Awaitable<Result<std::string>> create(NewPullRequest request) = 0;
};

namespace github {

/// "github.com/acme/shop" for a remote's URL, in the forms that git takes; invalid_argument for what cannot be a
/// repository at GitHub (a path, a name of the ssh configuration). Passwords in the URL do not get into the message.
Result<std::string> repository_of(std::string_view remote_url);

/// The open pull request of `request.head`: the one that exists, else a new one. Two calls make one.
Awaitable<Result<PullRequest>> open_pull_request(GitHub& github, NewPullRequest request);

}  // namespace github
}  // namespace orange
