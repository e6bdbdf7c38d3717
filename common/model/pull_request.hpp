#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.hpp"
#include "common/base/names.hpp"

/// A pull request as its forge shows it. An unknown fact is an Error or an absent value, never a state.
namespace orange {

enum class PullState { open, closed, merged };
inline constexpr NameRow<PullState> k_pull_states[] = {
    {PullState::open, "open"},
    {PullState::closed, "closed"},
    {PullState::merged, "merged"},
};
static_assert(has_row_for_each<k_pull_states>());

/// The combined result of the checks of its newest commit.
enum class PullChecks { none, pending, passing, failing };
inline constexpr NameRow<PullChecks> k_pull_checks[] = {
    {PullChecks::none, "none"},
    {PullChecks::pending, "pending"},
    {PullChecks::passing, "passing"},
    {PullChecks::failing, "failing"},
};
static_assert(has_row_for_each<k_pull_checks>());

enum class PullReview { none, required, approved, changes_requested };
inline constexpr NameRow<PullReview> k_pull_reviews[] = {
    {PullReview::none, "none"},
    {PullReview::required, "required"},
    {PullReview::approved, "approved"},
    {PullReview::changes_requested, "changes_requested"},
};
static_assert(has_row_for_each<k_pull_reviews>());

constexpr std::string_view name_of(PullState state) {
    return k_pull_states[static_cast<std::size_t>(state)].name;
}
constexpr std::optional<PullState> from_name(std::string_view name, PullState) {
    return kind_named(k_pull_states, name);
}
constexpr std::string_view name_of(PullChecks checks) {
    return k_pull_checks[static_cast<std::size_t>(checks)].name;
}
constexpr std::optional<PullChecks> from_name(std::string_view name, PullChecks) {
    return kind_named(k_pull_checks, name);
}
constexpr std::string_view name_of(PullReview review) {
    return k_pull_reviews[static_cast<std::size_t>(review)].name;
}
constexpr std::optional<PullReview> from_name(std::string_view name, PullReview) {
    return kind_named(k_pull_reviews, name);
}

struct PullRequest {
    std::int64_t number = 0;
    std::string url;
    PullState state = PullState::open;
    bool draft = false;
    std::string branch;
    std::string commit;
    std::string base;
    PullChecks checks = PullChecks::none;
    PullReview review = PullReview::none;
    std::string requested_at;
    bool conflicts = false;
    std::string merged_as;
    std::string said;

    void describe(auto& v) {
        v.required("number", number, "its number at the forge");
        v.required("url", url, "where people look at it");
        v.required("state", state, "open, closed or merged");
        v.sparse("draft", draft, "it is a draft");
        v.optional("branch", branch, "the branch that it asks to merge");
        v.optional("commit", commit, "the newest commit of that branch that the forge knows");
        v.optional("base", base, "the branch that it is to be merged into");
        v.optional("checks", checks, "none, pending, passing or failing");
        v.optional("review", review, "none, required, approved or changes_requested");
        v.sparse("requested_at", requested_at, "when changes were last requested, as the forge says it");
        v.sparse("conflicts", conflicts, "it conflicts with its base");
        v.sparse("merged_as", merged_as, "the commit of the base that brought it, if it was merged");
        v.sparse("said", said, "changes when something may have been said in a review thread; as of the last reading");
    }
    bool operator==(const PullRequest&) const = default;
};

}  // namespace orange
