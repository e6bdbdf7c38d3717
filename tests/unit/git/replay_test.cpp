#include "daemon/git/replay.hpp"

#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// A branch "upper" with two commits on "lower", which main has as one commit.
struct Squashed : GitFixture {
    Squashed() {
        repo = make_repo();
        plain(repo, {"switch", "-qc", "lower"});
        commit(repo, "feature", "half\n");
        from = commit(repo, "feature", "whole\n");
        plain(repo, {"switch", "-qc", "upper"});
        commit(repo, "first", "1\n");
        plain(repo, {"-c", "user.name=Somebody", "commit", "-q", "--allow-empty", "-m", "nothing"});
        write_file(std::filesystem::path(repo) / "second", "2\n");
        plain(repo, {"add", "second"});
        plain(repo, {"-c", "user.name=Somebody", "commit", "-qm", "Second\n\nWith a body."});
        tip = plain(repo, {"rev-parse", "HEAD"});
        plain(repo, {"switch", "-q", "main"});
        plain(repo, {"merge", "-q", "--squash", "lower"});
        plain(repo, {"commit", "-qm", "squashed"});
        onto = plain(repo, {"rev-parse", "HEAD"});
    }
    git::Replay wanted() {
        git::Replay again{{}, from, onto, "All of it\n"};
        again.request.repo = repo;
        again.request.scratch = (dir / "scratch").string();
        again.request.branch = "upper";
        again.request.target = "main";
        again.request.tip = tip;
        return again;
    }
    Result<std::string> again() { return go(git::replay(git, wanted())); }
    bool is_same(const std::string& now) {
        return go(git::is_same_patch(git, repo, git::Range{from, tip}, git::Range{onto, now})).value();
    }

    std::string repo, from, tip, onto;
};

}  // namespace

TEST_CASE("Commits are made again on another commit, with their authors and messages") {
    Squashed f;
    const auto now = f.again().value();
    CHECK(f.plain(f.repo, {"log", "--format=%an|%s", f.onto + ".." + now}) ==
          "Somebody|Second\nUrsula User|change first");
    CHECK(f.plain(f.repo, {"log", "-1", "--format=%b", now}) == "With a body.");
    CHECK(f.plain(f.repo, {"log", "-1", "--format=%ad", now}) == f.plain(f.repo, {"log", "-1", "--format=%ad", f.tip}));
    CHECK(f.plain(f.repo, {"diff", "--name-only", f.onto, now}) == "first\nsecond");
    CHECK(f.ref(f.repo, "upper") == f.tip);
    CHECK_FALSE(std::filesystem::exists(f.dir / "scratch"));
    CHECK(f.is_same(now));
}

TEST_CASE("A branch without commits of its own is at the commit that it is put on") {
    Squashed f;
    f.tip = f.from;
    CHECK(f.again().value() == f.onto);
}

TEST_CASE("Where a merge has changed files itself, all changes become one commit") {
    Squashed f;
    f.plain(f.repo, {"switch", "-q", "upper"});
    f.plain(f.repo, {"merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "main"});
    write_file(std::filesystem::path(f.repo) / "first", "resolved\n");
    f.plain(f.repo, {"commit", "-qam", "merged by hand"});
    f.tip = f.plain(f.repo, {"rev-parse", "HEAD"});
    const auto now = f.again().value();
    CHECK(f.plain(f.repo, {"log", "--format=%s", f.onto + ".." + now}) == "All of it");
    CHECK(f.plain(f.repo, {"show", now + ":first"}) == "resolved");
    CHECK(f.is_same(now));
}

TEST_CASE("More than 100 commits become one") {
    Squashed f;
    f.plain(f.repo, {"switch", "-q", "upper"});
    const auto tree = f.plain(f.repo, {"rev-parse", "HEAD^{tree}"});
    for (int n = 0; n < 100; ++n) f.tip = f.plain(f.repo, {"commit-tree", tree, "-p", f.tip, "-m", "nothing"});
    const auto now = f.again().value();
    CHECK(f.plain(f.repo, {"log", "--format=%s", f.onto + ".." + now}) == "All of it");
    CHECK(f.is_same(now));
}

TEST_CASE("Changes that git cannot merge are named, and nothing is made") {
    Squashed f;
    f.onto = f.commit(f.repo, "first", "another\n");
    const auto refused = f.again();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK(refused.error().details.at("files") == "first");
    CHECK_FALSE(std::filesystem::exists(f.dir / "scratch"));
}

TEST_CASE("A patch is the same if it changes the same lines between the same ones") {
    Squashed f;
    f.plain(f.repo, {"switch", "-q", "--detach", f.onto});
    f.commit(f.repo, "first", "1\n");
    SECTION("something else was committed") {
        CHECK_FALSE(f.is_same(f.commit(f.repo, "second", "two\n")));
    }
    SECTION("a file can be executed") {
        f.commit(f.repo, "second", "2\n");
        f.plain(f.repo, {"update-index", "--chmod=+x", "second"});
        f.plain(f.repo, {"commit", "-qm", "mode"});
        CHECK_FALSE(f.is_same(f.plain(f.repo, {"rev-parse", "HEAD"})));
    }
    SECTION("a blank more") {
        CHECK_FALSE(f.is_same(f.commit(f.repo, "second", "2 \n")));
    }
    SECTION("the same, in another way") {
        CHECK(f.is_same(f.commit(f.repo, "second", "2\n")));
    }
}

TEST_CASE("A worktree is moved with its files, and keeps what git does not track") {
    Squashed f;
    f.plain(f.repo, {"switch", "-q", "upper"});
    const auto folder = std::filesystem::path(f.repo);
    write_file(folder / "untracked", "mine\n");
    const auto now = f.again().value();
    f.go(git::reset_here(f.git, f.at(f.repo), now)).value();
    CHECK(f.ref(f.repo, "upper") == now);
    CHECK(f.plain(f.repo, {"status", "--porcelain"}) == "?? untracked");

    write_file(folder / "second", "edited\n");
    CHECK_FALSE(f.go(git::reset_here(f.git, f.at(f.repo), f.onto)));
    CHECK(f.ref(f.repo, "upper") == now);
    CHECK(read_file(folder / "second") == "edited\n");
}
