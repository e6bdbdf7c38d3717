#include "daemon/git/strays.hpp"

#include "daemon/git/ignored.hpp"

#include "tests/catch.hpp"
#include "tests/unit/pool/pool_fixture.hpp"

/// The things that a task leaves beside its branch: worktrees that its agent has added, and files that git ignores.
using namespace orange;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

struct Left : PoolFixture {
    Left() {
        write_file(project.path + "/.git/info/exclude", "*.env\n/data/\n/cache/\nTASK.md\n");
        pool.surround([this](const Project&, const TaskId&, const std::string&) {
            return Surroundings{environment(), teardown, keep_ignored};
        });
    }
    static Task on_branch(const std::string& id, const std::string& branch) {
        auto made = task(id);
        made.branch = branch;
        return made;
    }
    std::string release(const Task& task) { return join(go(pool.release(project, task)).value().notes, "\n"); }
    std::string worktrees() { return plain(project.path, {"worktree", "list", "--porcelain"}); }

    std::vector<std::string> keep_ignored;
};

}  // namespace

TEST_CASE_METHOD(Left, "a worktree that an agent added stays, is told with the command, and its branch names it") {
    const auto path = taken(task("a"));
    const auto stray = (root / "x").string();
    plain(path, {"worktree", "add", "-q", "-b", "side", "../x"});
    write_file(stray + "/draft", "unfinished\n");
    CHECK_THAT(release(task("a")), Tells("git -C " + project.path + " worktree remove " + stray));
    CHECK(read_file(stray + "/draft") == "unfinished\n");
    const auto refused = acquire(on_branch("b", "side"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells("git -C " + stray + " switch --detach"));
    plain(stray, {"switch", "-q", "--detach"});
    REQUIRE(acquire(on_branch("b", "side")));
    CHECK(read_file(stray + "/draft") == "unfinished\n");
}

TEST_CASE_METHOD(Left, "only the task in whose time a worktree was added is told of it") {
    plain(project.path, {"worktree", "add", "-q", "-b", "side", (root / "x").string()});
    auto later = task("a");
    later.created_at =
        std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::now()) + std::chrono::hours(1);
    taken(later);
    CHECK(release(later).empty());
}

TEST_CASE_METHOD(Left, "a worktree of an agent that is gone from the disk blocks no branch, and loses no commit") {
    const auto path = taken(task("a"));
    const auto stray = root / "x";
    plain(path, {"worktree", "add", "-q", "-b", "side", "../x"});
    plain(stray, {"switch", "-q", "--detach"});
    const auto lost = commit(stray, "lost", "found\n");
    const bool before_release = GENERATE(true, false);
    if (before_release) {
        fs::remove_all(stray);
        CHECK(release(task("a")).empty());
        CHECK(ref(project.path, "refs/orange/a/head-" + lost.substr(0, 12)) == lost);
    } else {
        plain(stray, {"switch", "-q", "side"});
        release(task("a"));
        fs::remove_all(stray);
        REQUIRE(acquire(on_branch("b", "side")));
    }
    CHECK_THAT(worktrees(), !Holds(stray.string()));
}

TEST_CASE_METHOD(Left, "a worktree that an agent added inside its own becomes files of it, and frees its branch") {
    const auto path = taken(task("a"));
    plain(path, {"worktree", "add", "-q", "-b", "inner", "inner"});
    const auto tip = commit(path / "inner", "work", "done\n");
    write_file(path / "inner/draft", "unfinished\n");
    release(task("a"));
    CHECK_THAT(worktrees(), !Holds((path / "inner").string()));
    CHECK(plain(project.path, {"show", "refs/orange/a/wip:inner/draft"}) == "unfinished");
    CHECK(ref(project.path, "refs/heads/inner") == tip);
    CHECK(acquire(on_branch("b", "inner")));
}

TEST_CASE_METHOD(Left, "a locked worktree whose folder is away is not forgotten") {
    const auto path = taken(task("a"));
    plain(path, {"worktree", "add", "-q", "-b", "side", "../x"});
    plain(path, {"worktree", "lock", "../x"});
    fs::rename(root / "x", dir / "away");
    release(task("a"));
    CHECK_THAT(worktrees(), Holds((root / "x").string()));
}

TEST_CASE_METHOD(Left, "ignored files that keep_ignored names are kept under a ref of their own") {
    keep_ignored = {"*.env", "data/*", "!data/skip"};
    const auto path = taken(task("a"));
    write_file(path / "local.env", "KEY=1\n");
    write_file(path / "deep/other.env", "KEY=2\n");
    write_file(path / "data/two\nlines", "3\n");
    write_file(path / "data/skip", "no\n");
    write_file(path / "cache/x", "no\n");
    write_file(path / "draft", "not ignored\n");
    const auto released = go(pool.release(project, task("a"))).value();
    CHECK(released.notes.empty());
    CHECK(plain(project.path, {"ls-tree", "-r", "-z", "--name-only", "refs/orange/a/ignored"}) ==
          std::string("data/two\nlines\0deep/other.env\0local.env\0", 40));
    CHECK(plain(project.path, {"ls-tree", "--name-only", "refs/orange/a/wip"}) == "README\ndraft");
    CHECK(read_file(path / "local.env") == "KEY=1\n");  // git ignores it, so it stays
    const auto into = (dir / "restored").string();
    REQUIRE(go(git::write_files_of(git, project.path, "refs/orange/a/ignored", into)));
    CHECK(read_file(into + "/deep/other.env") == "KEY=2\n");
    CHECK(read_file(into + "/data/two\nlines") == "3\n");
}

TEST_CASE_METHOD(Left, "ignored files beyond a size are left out, and named") {
    keep_ignored = {"*.env"};
    const auto path = taken(task("a"));
    write_file(path / "large.env", "");
    fs::resize_file(path / "large.env", git::k_most_kept + 1);
    write_file(path / "small.env", "KEY=1\n");
    CHECK_THAT(release(task("a")), Tells("large.env") && Tells("100"));
    CHECK(plain(project.path, {"ls-tree", "--name-only", "refs/orange/a/ignored"}) == "small.env");
}

TEST_CASE_METHOD(Left, "the ignored files of a task are named: what the next one finds, and what it replaces") {
    write_file(project.path + "/.worktreeinclude", "*.env\n");
    write_file(project.path + "/same.env", "KEY=1\n");
    write_file(project.path + "/changed.env", "KEY=1\n");
    const auto path = taken(task("a"));
    CHECK(fs::exists(path / "same.env"));
    write_file(path / "changed.env", "KEY=2\n");
    write_file(path / "cache/a/b", "x\n");
    write_file(path / "TASK.md", "of Orange\n");
    const auto notes = go(pool.ignored_notes(project, task("a").id));
    REQUIRE(notes.size() == 3);
    CHECK_THAT(notes[0], Tells("shop--1") && Holds("cache/") && Holds("changed.env") && !Holds("TASK.md"));
    CHECK_THAT(notes[1], Holds("changed.env") && !Holds("same.env"));
    CHECK_THAT(notes[2], Tells("orange project update shop --set keep_ignored=PATTERNS"));
    keep_ignored = {"*.env"};
    CHECK(go(pool.ignored_notes(project, task("a").id)).size() == 2);
    fs::remove_all(path / "cache");
    for (const char* name : {"same.env", "changed.env"}) fs::remove(path / name);
    CHECK(go(pool.ignored_notes(project, task("a").id)).empty());
}
