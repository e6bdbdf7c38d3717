#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/names.hpp"
#include "common/base/result.hpp"
#include "common/model/pull_request.hpp"
#include "daemon/async/awaitable.hpp"

/// Where a repository's pull requests are (docs/pull-requests.md). A forge is asked for facts; nothing here decides.
namespace orange {

/// Which pull request is asked for: the one of that number, else those of the branch.
struct WantedPull {
    std::int64_t number = 0;  ///< 0: not known
    std::string branch;       ///< of the repository itself, not of a fork
};

/// What a forge answers to one question about many branches.
struct PullAnswers {
    /// One for each that was wanted, in that order: all that there are, the newest first; empty: there is none. An
    /// Error: not known.
    std::vector<Result<std::vector<PullRequest>>> answers;
    std::optional<std::chrono::seconds> pause;  ///< the forge wants to be left alone for so long
};

struct NewPullRequest {
    std::string repository;  ///< as ForgePlace says
    std::string base;        ///< branches of that repository
    std::string head;
    std::string title;
    std::string body;  ///< Markdown; any bytes, any length that the forge takes
    bool draft = false;
};

enum class PullMethod { merge, squash, rebase };
inline constexpr std::array<std::string_view, 3> k_pull_methods = {"merge", "squash", "rebase"};
constexpr std::string_view name_of(PullMethod method) {
    return k_pull_methods[static_cast<std::size_t>(method)];
}
constexpr std::optional<PullMethod> from_name(std::string_view name, PullMethod) {
    return detail::named<PullMethod>(k_pull_methods, name);
}

/// What somebody said about a pull request: text from outside.
struct PullRemark {
    std::string author;
    std::string where;  ///< "src/shop.cpp:12", "review", "check build"; empty: a comment on the whole
    std::string text;
};

/// Pull requests at a forge. What cannot be found out is an Error, never "there is none". Errors are sentences with the
/// way out, and `details["why"]` tells them apart: "missing" (its program is not installed), "login" (not logged in, or
/// not allowed), "limit" (asked too often; `details["seconds"]`, if it is known, says for how long), "absent" (no such
/// repository), "offline" (not reached, no answer in time), "answer" (it answered something else); "exists" (a create:
/// there is an open one), "unpushed" and "empty" (a create: its branch is not there, or has no commits), "refused" (a
/// merge: not mergeable, or its branch has moved).
class Forge {
  public:
    virtual ~Forge() = default;
    /// Asks for at most k_most_at_once pull requests, with one question for all of them.
    virtual Awaitable<Result<PullAnswers>> query_pulls(std::string repository, std::vector<WantedPull> wanted) = 0;
    /// Opens one and returns its URL. After an error there may be one: query_pulls() tells.
    virtual Awaitable<Result<std::string>> create(NewPullRequest request) = 0;
    /// Asks to merge it if its branch is at `commit`. Neither success nor an error says whether it is merged:
    /// query_pulls() tells.
    virtual Awaitable<Result<void>> merge(std::string repository, std::int64_t number, std::string commit,
                                          PullMethod method) = 0;
    /// What the repository allows, its preferred one first.
    virtual Awaitable<Result<std::vector<PullMethod>>> methods(std::string repository) = 0;
    /// What reviewers and checks said that is unresolved or failing, the oldest first; at most 50.
    virtual Awaitable<Result<std::vector<PullRemark>>> remarks(std::string repository, std::int64_t number) = 0;

    static constexpr std::size_t k_most_at_once = 50;
};

enum class ForgeKind {
    github,  ///< GitHub, or an own server of it: gh is asked
    other,   ///< takes branches; its pull requests are opened in a browser
};

/// The place of a remote.
struct ForgePlace {
    ForgeKind kind = ForgeKind::other;
    std::string repository;  ///< "github.com/acme/shop"; empty for `other`
};

/// For a remote's URL in the forms that git takes. github.com, *.ghe.com and hosts that `says_github` (the project's
/// setting `forge: github`) are GitHub; anything else, a path included, is `other`. invalid_argument for a GitHub whose
/// URL names no repository, or whose host is a name of the ssh configuration. No password of the URL gets into a
/// message.
Result<ForgePlace> place_of_remote(std::string_view url, bool says_github = false);

}  // namespace orange
