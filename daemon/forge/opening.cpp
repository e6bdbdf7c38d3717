#include "daemon/forge/opening.hpp"

#include <charconv>
#include <chrono>
#include <string>

#include "common/base/try.hpp"
#include "daemon/async/async.hpp"

namespace orange::forge {
namespace {

constexpr std::chrono::milliseconds k_first_pause = std::chrono::milliseconds(500);
constexpr std::chrono::milliseconds k_longest_pause = std::chrono::seconds(2);

Awaitable<Result<std::vector<PullRequest>>> pulls_of_branch(Forge& forge, ForgePlace place, std::string branch) {
    std::vector<WantedPull> wanted;
    wanted.emplace_back();
    wanted.back().branch = std::move(branch);
    CO_TRY(auto looked, co_await forge.query_pulls(std::move(place), std::move(wanted)));
    if (looked.answers.size() != 1) {
        co_return Error(ErrorCode::internal, "a forge was asked about one branch and gave " +
                                                 std::to_string(looked.answers.size()) + " answers");
    }
    co_return std::move(looked.answers.front());
}

/// Makes the record of a new pull request that the forge does not list yet.
PullRequest only_made(const NewPullRequest& request, std::string url, std::string tip) {
    PullRequest made;
    const auto number = std::string_view(url).substr(url.rfind('/') + 1);
    std::from_chars(number.data(), number.data() + number.size(), made.number);
    made.url = std::move(url);
    made.draft = request.draft;
    made.branch = request.head;
    made.commit = std::move(tip);
    made.base = request.base;
    return made;
}

}  // namespace

const PullRequest* open_one(const std::vector<PullRequest>& all, std::string_view tip, std::string_view base) {
    const PullRequest* best = nullptr;
    const auto rank = [&](const PullRequest& pull) {
        return (pull.commit == tip ? 2 : 0) + (pull.base == base ? 1 : 0);
    };
    for (const auto& pull : all) {
        if (pull.state == PullState::open && (!best || rank(pull) > rank(*best))) best = &pull;
    }
    return best;
}

Awaitable<Result<OpenPull>> open_pull_request(Forge& forge, NewPullRequest request, std::string tip) {
    CO_TRY(const auto before, co_await pulls_of_branch(forge, request.place, request.head));
    if (const auto* open = open_one(before, tip, request.base)) co_return OpenPull{*open, true};
    Result<std::string> url = std::string();
    for (auto pause = k_first_pause;; pause *= 2) {
        auto asked = request;
        url = co_await forge.create(std::move(asked));
        // The forge may see a push a moment later than git reports it.
        const bool late = !url && url.error().details.contains("why") && url.error().details.at("why") == "unpushed" &&
                          pause <= k_longest_pause;
        if (!late) break;
        co_await async::sleep(pause);
    }
    const auto after = co_await pulls_of_branch(forge, request.place, request.head);
    if (after) {
        if (const auto* open = open_one(*after, tip, request.base)) co_return OpenPull{*open, !url};
    }
    if (!url) co_return url.error();
    co_return OpenPull{only_made(request, std::move(*url), std::move(tip)), false};
}

}  // namespace orange::forge
