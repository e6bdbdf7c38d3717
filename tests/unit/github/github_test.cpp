#include "daemon/github/cli_github.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/fake_github.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A repository whose branch `topic` is at a GitHub that a script plays.
struct GitHubFixture : GitFixture {
    GitHubFixture() : fake(dir / "programs"), repo(make_repo()) {
        make_origin(repo, "programs/ssh-root/acme/shop.git");
        plain(repo, {"switch", "-qc", "topic"});
        commit(repo, "topic.txt", "new\n");
        plain(repo, {"push", "-q", "origin", "topic"});
        auto env = environment();
        env["PATH"] = (dir / "programs").string() + ":" + env["PATH"];
        env["GH_REPO"] = "somebody/else";
        github.emplace(runner, env);
    }
    static NewPullRequest request() { return {"github.com/acme/shop", "main", "topic", "Add a topic", "The body.\n"}; }
    Result<PullRequest> open(NewPullRequest request) {
        return go(github::open_pull_request(*github, std::move(request)));
    }

    FakeGitHub fake;
    std::string repo;
    std::optional<CliGitHub> github;
};

}  // namespace

TEST_CASE("A remote's URL in any of git's forms names the repository at GitHub") {
    for (const char* url : {"git@github.com:acme/shop.git", "git@github.com:acme/shop", "github.com:acme/shop.git",
                            "https://github.com/acme/shop", "https://github.com/acme/shop.git/",
                            "https://user:token@github.com/acme/shop", "ssh://git@github.com/acme/shop.git",
                            "ssh://git@ssh.github.com:443/acme/shop.git", "git://github.com/acme/shop.git",
                            "https://GitHub.com:443/acme/shop\n"}) {
        INFO(url);
        CHECK(github::repository_of(url).value() == "github.com/acme/shop");
    }
    CHECK(github::repository_of("git@git.example.org:a_b/c.d.git").value() == "git.example.org/a_b/c.d");
}

TEST_CASE("A URL that cannot be GitHub's is refused, and no password is repeated") {
    for (const char* url : {"", "/srv/git/shop.git", "../shop", "file:///srv/git/shop.git", "https://github.com/shop",
                            "https://secret@github.com/a/b/c", "git@github.com:-x/shop", "git@github.com:../shop",
                            "git@-oProxyCommand=x:a/b", "https://github.com/a/b c", "C:/a/b/c"}) {
        INFO(url);
        const auto refused = github::repository_of(url);
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, Tells("orange task merge"));
        CHECK_THAT(refused.error().message, !Holds("secret"));
    }
    CHECK_THAT(github::repository_of("git@work:acme/shop.git").error().message, Tells("ssh"));
}

TEST_CASE_METHOD(GitHubFixture, "A pull request is opened once, and then found") {
    const auto first = open(request()).value();
    CHECK(first.url == "https://github.com/acme/shop/pull/1");
    const auto second = open(request()).value();
    CHECK(second.url == first.url);
    CHECK(second.state == "OPEN");
    CHECK(fake.prs() == "1|topic|OPEN|false\n");
    CHECK(read_file(fake.state("title.1")) == "Add a topic");
    CHECK(read_file(fake.state("base.1")) == "main");
    CHECK(read_file(fake.state("body.1")) == "The body.\n");
}

TEST_CASE_METHOD(GitHubFixture, "An open pull request is adopted, a closed one and a fork's are not") {
    write_file(fake.state("prs"), "1|topic|CLOSED|false\n2|topic|OPEN|true\n3|topic2|OPEN|false\n");
    CHECK(open(request()).value().url == "https://github.com/acme/shop/pull/4");
    const auto all = go(github->list("github.com/acme/shop", "topic")).value();
    REQUIRE(all.size() == 2);
    CHECK(all[0] == PullRequest{4, "https://github.com/acme/shop/pull/4", "OPEN"});
    CHECK(all[1].state == "CLOSED");
}

TEST_CASE_METHOD(GitHubFixture, "One that somebody opens at the same moment is adopted too") {
    write_file(fake.state("race"), "");
    CHECK(open(request()).value().url == "https://github.com/acme/shop/pull/1");
    CHECK(fake.prs() == "1|topic|OPEN|false\n");
}

TEST_CASE_METHOD(GitHubFixture, "No text passes for an option or gets lost") {
    auto hostile = request();
    SECTION("a leading dash") {
        hostile.title = "--web";
        hostile.body = "--fill\n";
    }
    SECTION("what a shell would run") {
        hostile.title = "$(touch x) `touch x` \"; touch x";
        hostile.body = "$(touch x)\n`touch x`\n";
    }
    SECTION("a large body") {
        hostile.body = std::string(1 << 20, 'x');
    }
    REQUIRE(open(hostile));
    CHECK(read_file(fake.state("title.1")) == hostile.title);
    CHECK(read_file(fake.state("body.1")) == hostile.body);
}

TEST_CASE_METHOD(GitHubFixture, "What goes wrong at GitHub is a sentence with the way out, and opens nothing") {
    auto asked = request();
    std::string way_out;
    ErrorCode code{};
    SECTION("not installed") {
        fake.remove_gh();
        auto env = environment();
        env["PATH"] = (dir / "programs").string();
        github.emplace(runner, env);
        code = ErrorCode::not_found;
        way_out = "https://cli.github.com";
    }
    SECTION("not logged in") {
        write_file(fake.state("logged-out"), "");
        code = ErrorCode::unavailable;
        way_out = "gh auth login --hostname github.com";
    }
    SECTION("no network") {
        write_file(fake.state("offline"), "");
        code = ErrorCode::unavailable;
        way_out = "github.com";
    }
    SECTION("no such repository") {
        asked.repository = "github.com/acme/nothing";
        code = ErrorCode::not_found;
        way_out = "gh auth status";
    }
    SECTION("no commits") {
        plain(repo, {"push", "-q", "origin", "main:empty"});
        asked.head = "empty";
        code = ErrorCode::external_failed;
        way_out = "main";
    }
    const auto refused = open(asked);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == code);
    INFO(refused.error().message);
    CHECK_THAT(refused.error().message, Tells(way_out));
    CHECK(fake.prs().empty());
}

TEST_CASE_METHOD(GitHubFixture, "A gh that answers with something else is an error, never no pull request") {
    for (const char* answer : {"", "null", "{}", "[1]", "[{\"number\":1}]", "not json"}) {
        INFO(answer);
        write_file(dir / "programs/gh", std::string("#!/bin/sh\nprintf '%s' '") + answer + "'\n");
        CHECK(open(request()).error().code == ErrorCode::external_failed);
    }
}
