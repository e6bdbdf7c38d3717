#include "daemon/forge/github_queries.hpp"

#include "common/model/json.hpp"

namespace orange::forge {
namespace {

constexpr const char* k_pull = R"(
fragment pull on PullRequest {
  number url state isDraft headRefName headRefOid baseRefName isCrossRepository
  reviewDecision mergeable mergeCommit { oid } updatedAt
  reviewThreads(last: 100) { totalCount nodes { isResolved } }
  reviews(last: 1, states: [CHANGES_REQUESTED]) { nodes { state submittedAt } }
  commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }
})";

constexpr const char* k_methods = R"(
query OrangeMergeMethods($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed viewerDefaultMergeMethod
  }
})";

constexpr const char* k_remarks = R"(
query OrangeRemarks($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviews(last: 50) { nodes { author { login } state body submittedAt } }
      comments(last: 50) { nodes { author { login } body createdAt isMinimized } }
      commits(last: 1) { nodes { commit { statusCheckRollup { contexts(last: 100) { nodes {
        __typename
        ... on CheckRun { name conclusion title summary completedAt detailsUrl }
        ... on StatusContext { context state description createdAt targetUrl }
      } } } } } }
    }
  }
})";

constexpr const char* k_threads = R"(
query OrangeThreads($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(last: 100) { nodes {
        id isResolved path diffSide line startLine originalLine originalStartLine
        first: comments(first: 1) { nodes { ...said diffHunk originalCommit { oid } } }
        comments(last: 50) { nodes { ...said } }
      } }
    }
  }
}
fragment said on PullRequestReviewComment {
  id url body createdAt state isMinimized authorAssociation author { __typename login }
})";

std::string request_of(const ForgePlace& place, std::string query, Json variables) {
    const auto slash = place.path.find('/');
    variables["owner"] = place.path.substr(0, slash);
    variables["name"] = place.path.substr(slash + 1);
    return dump({{"query", std::move(query)}, {"variables", std::move(variables)}});
}

}  // namespace

std::string alias_of(std::size_t index) {
    return "a" + std::to_string(index);
}

std::string question_of_pulls(const ForgePlace& place, const std::vector<WantedPull>& wanted) {
    std::string declared = "$owner: String!, $name: String!";
    std::string fields;
    auto variables = Json::object();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto alias = alias_of(i);
        if (wanted[i].number > 0) {
            fields += "    " + alias + ": pullRequest(number: " + std::to_string(wanted[i].number) + ") { ...pull }\n";
            continue;
        }
        declared += ", $" + alias + ": String!";
        variables[alias] = wanted[i].branch;
        fields += "    " + alias + ": pullRequests(headRefName: $" + alias +
                  ", first: 5, orderBy: {field: CREATED_AT, direction: DESC}) { totalCount nodes { ...pull } }\n";
    }
    return request_of(place,
                      "query OrangePullRequests(" + declared + ") {\n  repository(owner: $owner, name: $name) {\n" +
                          fields + "  }\n}" + k_pull,
                      std::move(variables));
}

std::string question_of_methods(const ForgePlace& place) {
    return request_of(place, k_methods, Json::object());
}

std::string question_of_remarks(const ForgePlace& place, std::int64_t number) {
    return request_of(place, k_remarks, {{"number", number}});
}

std::string question_of_threads(const ForgePlace& place, std::int64_t number) {
    return request_of(place, k_threads, {{"number", number}});
}

}  // namespace orange::forge
