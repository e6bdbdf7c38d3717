#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/forges.hpp"
#include "common/base/names.hpp"
#include "common/base/result.hpp"
#include "common/model/comment.hpp"
#include "common/model/pull_request.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/process/environment.hpp"

/// Finds and changes the pull requests of a repository at its forge (docs/pull-requests.md). The runner calls it
/// through the interface Forge: GitHubForge runs the program gh, tests use a fake. A forge reports facts and decides
/// nothing; if a fact cannot be found out, the result is an Error.
namespace orange {

class ProcessRunner;

/// A repository at its forge.
struct ForgePlace {
    const ForgeRule* forge = nullptr;  ///< null: at none; only pushes are possible, and people open pull requests
    std::string host = {};             ///< "github.com"; empty at none
    std::string path = {};             ///< "acme/shop"; empty at none
    /// Returns "github.com/acme/shop".
    std::string text() const { return host + "/" + path; }
};

/// The pull requests to look up: the one with that number, or else those of the branch.
struct WantedPull {
    std::int64_t number = 0;  ///< 0: unknown
    std::string branch;       ///< of the repository itself, not of a fork
};

/// The answer of a forge to one query about many branches.
struct PullAnswers {
    /// One entry for each wanted pull request, in that order: all that exist, newest first; empty if there is none. An
    /// Error means unknown.
    std::vector<Result<std::vector<PullRequest>>> answers;
    std::optional<std::chrono::seconds> pause;  ///< the forge asks for this pause before the next query
};

struct NewPullRequest {
    ForgePlace place;
    std::string base;  ///< `base` and `head` are branches of that repository
    std::string head;
    std::string title;
    std::string body;  ///< Markdown; any bytes up to the forge's limit
    bool draft = false;
};

enum class PullMethod { merge, squash, rebase };
inline constexpr NameRow<PullMethod> k_pull_methods[] = {
    {PullMethod::merge, "merge"},
    {PullMethod::squash, "squash"},
    {PullMethod::rebase, "rebase"},
};
static_assert(has_row_for_each<k_pull_methods>());
constexpr std::string_view name_of(PullMethod method) {
    return k_pull_methods[static_cast<std::size_t>(method)].name;
}
constexpr std::optional<PullMethod> from_name(std::string_view name, PullMethod) {
    return kind_named(k_pull_methods, name);
}

/// A text of a review thread: untrusted.
struct PullReply {
    std::string id;      ///< the forge's, which never changes
    std::string author;  ///< a program has a name such as "dependabot[bot]"
    bool may_push = false;
    Timestamp at{};  ///< the epoch: unknown
    std::string text;
    std::string url = {};
};

/// A review thread: what people said about some lines. All of it is untrusted text.
struct PullThread {
    std::string id;  ///< the forge's, which never changes
    /// The lines as they were when the thread began; `text` is empty if the forge does not show them. `commit`: of the
    /// pull request's branch, also if `side` is before; the lines then count in the base of that commit. Empty:
    /// unknown.
    CommentAnchor anchor;
    bool resolved = false;
    std::vector<PullReply> said;  ///< at least one: the first, and the newest 50, oldest first
};

/// A comment or check result of a pull request: untrusted text.
struct PullRemark {
    std::string author;
    std::string where;  ///< "src/shop.cpp:12", "review", "check build"; empty: a comment on the whole
    std::string text;
    std::string url = {};  ///< of a check: where the whole of it is; may be empty
};

/// Pull requests at a forge. If a fact cannot be found out, the result is an Error, never an empty answer. The message
/// of an Error contains the way out, and `details["why"]` classifies it:
///
/// - "missing": the forge's program is not installed
/// - "login": not logged in, or not allowed
/// - "limit": too many requests; `details["seconds"]`, if known, is the time to wait
/// - "absent": no such repository
/// - "offline": not reachable, or no answer in time
/// - "answer": an unexpected answer
/// - "exists": create() found an open pull request
/// - "unpushed", "empty": for create(), the branch is missing at the forge, or has no commits
/// - "refused": for merge(), not mergeable, or the branch has moved
class Forge {
  public:
    virtual ~Forge() = default;
    /// Sets the environment in which the forge's program runs.
    virtual void set_base(Environment base) = 0;
    /// Looks up at most k_most_at_once pull requests with one query.
    virtual Awaitable<Result<PullAnswers>> query_pulls(ForgePlace place, std::vector<WantedPull> wanted) = 0;
    /// Opens a pull request and returns its URL. After an error it may exist anyway: ask query_pulls().
    virtual Awaitable<Result<std::string>> create(NewPullRequest request) = 0;
    /// Asks to merge the pull request if its branch is at `commit`. Neither success nor an error tells whether it is
    /// merged: ask query_pulls().
    virtual Awaitable<Result<void>> merge(ForgePlace place, std::int64_t number, std::string commit,
                                          PullMethod method) = 0;
    /// Returns the methods that the repository allows, the preferred one first.
    virtual Awaitable<Result<std::vector<PullMethod>>> methods(ForgePlace place) = 0;
    /// Returns reviews, comments on the whole and failing checks, oldest first, at most 50; no review threads. A check
    /// says why it fails, as far as that can be found out: its failed steps, and the end of its log or its annotations.
    virtual Awaitable<Result<std::vector<PullRemark>>> remarks(ForgePlace place, std::int64_t number) = 0;
    /// Returns the newest 100 review threads, also those that are resolved, oldest first. Asks for each author whether
    /// that person may push; someone about whom the forge gives no answer may not. An Error if the forge cannot be
    /// asked about somebody: a person who may push is never reported as a stranger because the network failed.
    virtual Awaitable<Result<std::vector<PullThread>>> threads(ForgePlace place, std::int64_t number) = 0;

    static constexpr std::size_t k_most_at_once = 50;
};

/// Finds the forge of a remote's URL, in any form that git takes. github.com and *.ghe.com are GitHub; any host is what
/// the project's setting `forge` says; anything else, paths included, is at none. invalid_argument for a URL at a forge
/// that names no repository, or whose host is an alias of the ssh configuration. A password in the URL never gets into
/// a message.
Result<ForgePlace> place_of_remote(std::string_view url, const ForgeRule* setting = nullptr);

/// Makes the adapter that reaches each of k_forges. `base` is the user's login environment. The runner must outlive it.
std::unique_ptr<Forge> make_forge(ProcessRunner& runner, Environment base);

}  // namespace orange
