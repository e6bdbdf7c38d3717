#include "daemon/git/repository.hpp"

#include <chrono>
#include <thread>

#include "daemon/git/small_files.hpp"
#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

struct CountingGit : Git {
    explicit CountingGit(Git& real) : git(real) {}
    Awaitable<Result<Completed>> run(GitCommand command) override {
        ++asked;
        return git.run(std::move(command));
    }
    Git& git;
    int asked = 0;
};

/// Files that were changed just now are nothing to go by.
void let_settle(const std::string& file) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!settled_facts(file) && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace

TEST_CASE_METHOD(GitFixture, "what is known of a repository is asked again only if it may have changed", "[slow]") {
    const auto repo = make_repo();
    CountingGit counting(git);
    KnownRepositories known;
    CHECK_FALSE(go(known.inspect(counting, repo)).value().has_origin);
    make_origin(repo);
    CHECK(go(known.inspect(counting, repo)).value().has_origin);  // that there is none is not remembered

    let_settle(repo + "/.git/config");
    const auto found = go(known.inspect(counting, repo)).value();
    CHECK(found.has_origin);
    CHECK(found.git_dir == repo + "/.git");
    counting.asked = 0;
    CHECK(go(known.inspect(counting, repo)).value().has_origin);
    CHECK(counting.asked == 0);

    SECTION("origin was removed") {
        plain(repo, {"remote", "remove", "origin"});
        CHECK_FALSE(go(known.inspect(counting, repo)).value().has_origin);
    }
    SECTION("another repository is there") {
        std::filesystem::rename(repo, repo + ".old");
        plain(dir.path, {"init", "-q", repo});
        CHECK_FALSE(go(known.inspect(counting, repo)).value().has_origin);
    }
}

TEST_CASE_METHOD(GitFixture, "an origin that a file beside the repository's own names is asked for each time",
                 "[slow]") {
    const auto repo = make_repo();
    write_file(repo + "/.git/more", "[remote \"origin\"]\n\turl = /elsewhere\n");
    plain(repo, {"config", "include.path", "more"});
    let_settle(repo + "/.git/config");
    CountingGit counting(git);
    KnownRepositories known;
    CHECK(go(known.inspect(counting, repo)).value().has_origin);
    write_file(repo + "/.git/more", "");
    CHECK_FALSE(go(known.inspect(counting, repo)).value().has_origin);
}

TEST_CASE_METHOD(GitFixture, "settings by which git would leave the checkout behind are a conflict, with the remedy") {
    const auto repo = make_repo();
    make_origin(repo);
    KnownRepositories known;
    REQUIRE(go(known.has_origin(git, repo)).value());
    const std::string key = GENERATE("core.bare", "core.worktree");
    plain(repo, {"config", key, key == "core.bare" ? "true" : "/"});
    const auto refused = go(known.has_origin(git, repo));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells(key) && Tells(refused.error().details.at("command")));
    plain(repo, {"config", key, key == "core.bare" ? "false" : repo});
    CHECK(go(known.has_origin(git, repo)).value());
}

TEST_CASE_METHOD(GitFixture, "a remote that is not called origin is named, with the command that renames it") {
    const auto repo = make_repo();
    KnownRepositories known;
    const auto unused = [&] {
        REQUIRE(go(known.has_origin(git, repo)));
        return go(known.unused_remote(git, repo, "main"));
    };
    CHECK(unused().empty());
    plain(repo, {"remote", "add", "a", "/a"});
    plain(repo, {"remote", "add", "b.c", "/b"});
    CHECK_THAT(unused(), Tells("git -C " + repo + " remote rename a origin"));
    plain(repo, {"config", "branch.main.remote", "b.c"});
    CHECK_THAT(unused(), Tells("git -C " + repo + " remote rename b.c origin"));
    make_origin(repo);
    CHECK(unused().empty());
}
