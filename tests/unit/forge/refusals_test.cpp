// The reasons of the refusals of gh: daemon/forge/github_refusals.
#include "daemon/forge/github_refusals.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"

using namespace orange;
using namespace orange::test;

namespace {

Error refused(int exit_status, const std::string& said, const std::string& printed = "",
              const std::string& token = "") {
    const forge::GhCall asked{{&k_github, "ghe.example.org", "acme/shop"}, {"gh", "pr", "create"}, token};
    Completed done;
    done.exit_status = exit_status;
    done.err = said;
    return forge::refusal(asked, done, forge::parse_reply(printed), Timestamp{});
}

std::string why_of(const Error& error) {
    return error.details.at("why");
}

}  // namespace

TEST_CASE("Each thing that gh says has its reason") {
    struct Row {
        const char* said;
        const char* why;
    };
    const std::vector<Row> rows = {
        {"a pull request for branch \"new\" into branch \"main\" already exists:\nhttps://github.com/a/b/pull/7",
         "exists"},
        {"pull request create failed: GraphQL: A pull request already exists for octo:new. (createPullRequest)",
         "exists"},
        {"pull request create failed: GraphQL: Head sha can't be blank, Base sha can't be blank, No commits between "
         "main and "
         "B, Head ref must be a branch (createPullRequest)",
         "unpushed"},
        {"pull request create failed: GraphQL: No commits between main and B (createPullRequest)", "empty"},
        {"X Pull request #4 is not mergeable: the merge commit cannot be cleanly created.", "refused"},
        {"X Pull request #4 is not mergeable: the base branch policy prohibits the merge.", "refused"},
        {"Message: Head branch was modified. Review and try the merge again., Locations: []", "refused"},
        {"Message: At least 1 approving review is required by reviewers with write access., Locations: []", "refused"},
        {"GraphQL: Pull Request is still a draft (mergePullRequest)", "refused"},
        {"GraphQL: Resource not accessible by personal access token (mergePullRequest)", "refused"},
        {"Message: Anything else, Locations: [{Line:1 Column:72}]", "refused"},
        {"Message: Base branch was modified. Review and try the merge again., Locations: []", "offline"},
        {"Message: API rate limit exceeded, Locations: []", "limit"},
        {"HTTP 403: API rate limit exceeded for user ID 1. (https://api.github.com/graphql)", "limit"},
        {"HTTP 403: You have exceeded a secondary rate limit. (URL)", "limit"},
        {"HTTP 429 (https://api.github.com/graphql)", "limit"},
        {"HTTP 401: Bad credentials (URL)\nTry authenticating with:  gh auth login", "login"},
        {"HTTP 403: Resource protected by organization SAML enforcement. (URL)", "login"},
        {"GraphQL: Your token has not been granted the required scopes to execute this query.", "login"},
        {"HTTP 403: Must have admin rights to Repository. (URL)", "login"},
        {"GraphQL: Could not resolve to a Repository with the name 'o/r'. (repository)", "absent"},
        {"HTTP 404: Not Found (https://api.github.com/graphql)", "absent"},
        {"HTTP 502: 502 Bad Gateway (https://api.github.com/graphql)", "offline"},
        {"non-200 OK status code: 502 Bad Gateway body: \"<html></html>\"", "offline"},
        {"non-200 OK status code: 401 Unauthorized body: \"{}\"", "login"},
        {"HTTP 500 (https://api.github.com/graphql)", "offline"},
        {"GraphQL: Something went wrong while executing your query. (repository)", "offline"},
        {"error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com", "offline"},
        {"Post \"https://api.github.com/graphql\": dial tcp 1.2.3.4:443: connect: connection refused", "offline"},
        {"Post \"https://api.github.com/graphql\": EOF", "offline"},
        {"Post \"https://api.github.com/graphql\": read: connection reset by peer", "offline"},
        {"Post \"https://api.github.com/graphql\": x509: certificate signed by unknown authority", "offline"},
        {"Post \"https://api.github.com/graphql\": net/http: TLS handshake timeout", "offline"},
        {"tls: first record does not look like a TLS handshake", "offline"},
        {"proxyconnect tcp: dial tcp: lookup proxy: no such host", "offline"},
        {"unexpected end of JSON input", "answer"},
        {"invalid character '<' looking for beginning of value", "answer"},
        {"", "answer"},
        {"HTTP", "answer"},
        {"HTTP 9", "answer"},
        {"HTTP xyz", "answer"},
    };
    for (const auto& row : rows) {
        INFO(row.said);
        CHECK(why_of(refused(1, row.said)) == row.why);
    }
}

TEST_CASE("Who is not logged in is told where to, and whose token is not good") {
    CHECK_THAT(refused(4, "To get started …").message, Tells("gh auth login --hostname ghe.example.org"));
    CHECK_THAT(refused(1, "HTTP 401: Bad credentials").message, Tells("gh auth login --hostname ghe.example.org"));
    CHECK_THAT(refused(1, "HTTP 401: Bad credentials", "", "GH_TOKEN").message, Tells("GH_TOKEN"));
}

TEST_CASE("An answer without data says why, even if gh does not mind") {
    const std::string head = "HTTP/2.0 200 OK\nContent-Type: application/json\r\n\r\n";
    CHECK(why_of(refused(0, "",
                         head + R"({"errors": [{"type": "NOT_FOUND", "path": ["repository"], "message": "x"}]})")) ==
          "absent");
    CHECK(why_of(refused(0, "", head + R"({"errors": [{"type": "RATE_LIMITED", "message": "x"}]})")) == "limit");
    CHECK(why_of(refused(0, "", head + R"({"errors": [{"message": "Field 'x' doesn't exist on type 'Y'"}]})")) ==
          "answer");
    CHECK(why_of(refused(0, "", head + R"({"errors": [7, null, {"path": "repository"}], "message": {}})")) == "answer");
}

TEST_CASE("How long to wait is known from the headers alone") {
    const auto limited =
        refused(1, "gh: secondary rate limit (HTTP 403)", "HTTP/2.0 403 Forbidden\nRetry-After: 90\r\n\r\n");
    CHECK(limited.details.at("seconds") == "90");
    CHECK_FALSE(refused(1, "HTTP 403: secondary rate limit").details.contains("seconds"));
}

TEST_CASE("What gh said cannot take over a terminal") {
    const auto strange = refused(1, "boo\x1b[2J");
    CHECK_THAT(strange.message, Holds("\\x1b[2J"));
}
