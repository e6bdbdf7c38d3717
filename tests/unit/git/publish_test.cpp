#include "daemon/git/publish.hpp"
#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A branch `topic` and an origin that says something about each push.
struct TalkingOrigin : GitFixture {
    TalkingOrigin() : repo(make_repo()), origin(make_origin(repo)) {
        plain(repo, {"switch", "-qc", "topic"});
        commit(repo, "topic.txt", "new\n");
    }
    void says(const std::string& text) {
        const auto hook = std::filesystem::path(origin) / "hooks/post-receive";
        write_file(origin + "/said", text);
        write_file(hook, "#!/bin/sh\ncat said >&2\n");
        std::filesystem::permissions(hook, std::filesystem::perms::owner_all);
    }
    std::string url() { return go(git::push_branch(git, repo, "topic")).value().url; }

    std::string repo;
    std::string origin;
};

}  // namespace

TEST_CASE_METHOD(TalkingOrigin, "A push tells where the server opens a pull request") {
    std::string expected;
    SECTION("GitHub") {
        says(
            "\nCreate a pull request for 'topic' on GitHub by visiting:\n     "
            "https://github.com/acme/shop/pull/new/topic\n\n");
        expected = "https://github.com/acme/shop/pull/new/topic";
    }
    SECTION("GitLab") {
        says(
            "\nTo create a merge request for topic, visit:\n"
            "  https://gitlab.example.org/a/b/-/merge_requests/new?merge_request%5Bsource_branch%5D=topic\n\n");
        expected = "https://gitlab.example.org/a/b/-/merge_requests/new?merge_request%5Bsource_branch%5D=topic";
    }
    SECTION("Forgejo") {
        says("\nCreate a new pull request for 'topic':\n  https://forge.example.org/a/b/compare/main...topic\n");
        expected = "https://forge.example.org/a/b/compare/main...topic";
    }
    SECTION("after other news") {
        says(
            "Your password ends soon: https://example.org/password\n"
            "Create a pull request:\n\n   https://example.org/a/b/requests/new   \n");
        expected = "https://example.org/a/b/requests/new";
    }
    CHECK(url() == expected);
    CHECK(ref(origin, "refs/heads/topic") == ref(repo, "topic"));
}

TEST_CASE_METHOD(TalkingOrigin, "A push without a word about pull requests has no URL") {
    SECTION("nothing at all") {}
    SECTION("about something else") {
        says("GitHub found 3 vulnerabilities. To find out more, visit:\n   https://github.com/acme/shop/security\n");
    }
    SECTION("one that cannot be shown") {
        says("Create a pull request:\n https://example.org/\x1b[2Jpull/new\n");
    }
    CHECK(url().empty());
}
