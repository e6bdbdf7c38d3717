#include "daemon/git/worktrees.hpp"

#include <fcntl.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "daemon/git/branches.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

struct WorktreesFixture : GitFixture {
    WorktreesFixture() : repo(make_repo()), tree(path("tree")) {}

    void add() { REQUIRE(go(add_worktree(git, repo, tree, "refs/heads/main"))); }

    std::string repo, tree;
};

}  // namespace

TEST_CASE_METHOD(WorktreesFixture, "a worktree is added detached and locked, listed, and removed") {
    add();
    auto all = go(worktrees(git, repo)).value();
    REQUIRE(all.size() == 2);
    CHECK(all[0].path == repo);
    CHECK(all[0].branch == "main");
    CHECK(all[1].path == tree);
    CHECK(all[1].branch.empty());
    CHECK(all[1].head == ref(repo, "main"));
    CHECK(all[1].locked == "orange");
    CHECK(go(add_worktree(git, repo, tree, "refs/heads/main")).error().code == ErrorCode::conflict);
    write_file(tree + "/left", "x");
    REQUIRE(go(remove_worktree(git, repo, tree)));
    CHECK_FALSE(std::filesystem::exists(tree));
    CHECK(go(worktrees(git, repo)).value().size() == 1);
    CHECK(go(remove_worktree(git, repo, tree)));
}

TEST_CASE_METHOD(WorktreesFixture, "git's files tell the same of worktrees as git does") {
    plain(repo, {"branch", "a/b"});
    add();
    plain(repo, {"worktree", "add", "-q", "--lock", path("on branch"), "a/b"});
    plain(repo, {"worktree", "add", "-q", path("gone"), "-b", "gone"});
    plain(repo, {"worktree", "lock", "--reason", "initializing", path("gone")});
    plain(repo, {"worktree", "add", "-q", "--detach", path("unborn")});
    plain(path("unborn"), {"switch", "-q", "--orphan", "later"});
    std::filesystem::remove_all(path("gone"));
    const auto facts = [](std::vector<Worktree> all) {
        std::vector<std::string> lines;
        for (const auto& each : all) {
            lines.push_back(each.path + " " + each.branch + " " + (each.is_locked ? "locked " : "") + each.locked);
        }
        std::sort(lines.begin(), lines.end());
        return lines;
    };
    const auto found = files_of_worktrees(repo);
    REQUIRE(found);
    CHECK(found->size() == 5);
    CHECK(found->front().path == repo);
    CHECK(facts(*found) == facts(go(worktrees(git, repo)).value()));
}

TEST_CASE_METHOD(WorktreesFixture, "where git's files do not tell, git is asked for worktrees") {
    add();
    REQUIRE(files_of_worktrees(repo));
    SECTION("a symbolic ref") {
        plain(repo, {"symbolic-ref", "refs/heads/other", "refs/heads/main"});
        plain(repo, {"symbolic-ref", "HEAD", "refs/heads/other"});
    }
    SECTION("a HEAD that names no branch") {
        write_file(repo + "/.git/worktrees/tree/HEAD", "ref: refs/x\n");
    }
    SECTION("a worktree that is not where git looks for it") {
        std::filesystem::remove(repo + "/.git/worktrees/tree/gitdir");
    }
    SECTION("a repository without a checkout") {
        std::filesystem::remove(repo + "/.git/index");
    }
    SECTION("a git directory elsewhere") {
        std::filesystem::rename(repo + "/.git", path("elsewhere"));
        write_file(repo + "/.git", "gitdir: " + path("elsewhere") + "\n");
    }
    CHECK_FALSE(files_of_worktrees(repo));
}

TEST_CASE_METHOD(WorktreesFixture, "a missing commit and a folder that is somebody's are refused") {
    CHECK(go(add_worktree(git, repo, tree, "refs/heads/none")).error().code == ErrorCode::not_found);
    write_file(tree + "/mine", "x");
    CHECK_FALSE(go(add_worktree(git, repo, tree, "refs/heads/main")));
    CHECK(read_file(tree + "/mine") == "x");
    CHECK(go(worktrees(git, repo)).value().size() == 1);
}

TEST_CASE_METHOD(WorktreesFixture, "a worktree deleted by hand is made anew") {
    add();
    std::filesystem::remove_all(tree);
    add();
    CHECK(read_file(tree + "/README") == "one\n");
}

TEST_CASE_METHOD(WorktreesFixture, "what a killed `worktree add` left is mended", "[slow]") {
    // A filter that never ends holds git in the middle of its checkout.
    write_file(repo + "/.gitattributes", "big filter=slow\n");
    write_file(repo + "/big", "x");
    plain(repo, {"add", "-A"});
    plain(repo, {"commit", "-qm", "slow"});
    write_file(dir / "slow", "#!/bin/sh\necho > " + path("started") + "\nexec sleep 60\n");
    ::chmod(path("slow").c_str(), 0755);
    plain(repo, {"config", "filter.slow.smudge", path("slow")});
    GitCommand slow;
    slow.place = repo;
    slow.args = {"worktree", "add", "--detach", tree, "HEAD"};
    slow.deadline = std::chrono::hours(1);
    TestTime time;
    async::spawn(io.get_executor(), "advancing",
                 advance_when(time, slow.deadline, [this] { return std::filesystem::exists(path("started")); }));
    REQUIRE(go(git.run(slow)).error().code == ErrorCode::timeout);
    REQUIRE(std::filesystem::exists(path("started")));
    plain(repo, {"config", "--unset", "filter.slow.smudge"});
    // TERM lets git clean up; a KILL leaves this.
    if (!std::filesystem::exists(tree)) plain(repo, {"worktree", "add", "-q", "--detach", "--no-checkout", tree});
    write_file(repo + "/.git/worktrees/tree/locked", "initializing");
    write_file(repo + "/.git/worktrees/tree/index.lock", "");
    add();
    CHECK(read_file(tree + "/big") == "x");
    CHECK(plain(tree, {"status", "--porcelain"}).empty());
}

TEST_CASE_METHOD(WorktreesFixture, "even one killed before its .git was written is mended") {
    plain(repo, {"worktree", "add", "-q", "--detach", tree});
    write_file(repo + "/.git/worktrees/tree/locked", "initializing");
    std::filesystem::remove(tree + "/.git");
    add();
    CHECK(plain(tree, {"status", "--porcelain"}).empty());
}

TEST_CASE_METHOD(WorktreesFixture, "a branch comes from here, from origin, or is new") {
    add();
    make_origin(repo);
    plain(repo, {"branch", "here"});
    CHECK(go(checkout_branch(git, repo, at(tree), "here", "refs/heads/main")).value() == BranchOrigin::local);
    CHECK(go(current_branch(git, tree)).value() == "here");
    CHECK(go(checkout_branch(git, repo, at(tree), "here", "refs/heads/main")).value() == BranchOrigin::local);

    commit(dir / "repo", "far", "far");
    plain(repo, {"push", "-q", "origin", "HEAD:far"});
    CHECK(go(checkout_branch(git, repo, at(tree), "far", "refs/heads/here")).value() == BranchOrigin::remote);
    CHECK(read_file(tree + "/far") == "far");
    CHECK(plain(tree, {"rev-parse", "--abbrev-ref", "far@{upstream}"}) == "origin/far");

    CHECK(go(checkout_branch(git, repo, at(tree), "new", "refs/heads/here")).value() == BranchOrigin::created);
    CHECK(ref(repo, "refs/heads/new") == ref(repo, "refs/heads/here"));
    CHECK_FALSE(std::filesystem::exists(tree + "/far"));
    CHECK(plain(tree, {"status", "--porcelain"}).empty());
}

TEST_CASE_METHOD(WorktreesFixture, "names that are more than they seem are branches all the same") {
    add();
    for (const std::string name : {"a;b", "$(id)", "refs/heads/main", "#(touch${IFS}x)", "a'b", "{last}"}) {
        INFO(name);
        CHECK(go(checkout_branch(git, repo, at(tree), name, "refs/heads/main")).value() == BranchOrigin::created);
        CHECK(go(current_branch(git, tree)).value() == name);
    }
    CHECK(go(checkout_branch(git, repo, at(tree), "-x", "refs/heads/main")).error().code ==
          ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(WorktreesFixture,
                 "a branch checked out elsewhere is a conflict that names the place, and nothing changes") {
    add();
    const auto done = go(checkout_branch(git, repo, at(tree), "main", "refs/heads/main"));
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::conflict);
    CHECK_THAT(done.error().message, Tells(repo));
    CHECK(go(current_branch(git, tree)).value().empty());
}

TEST_CASE_METHOD(WorktreesFixture,
                 "a reset leaves the branch where it was and the worktree clean but for ignored files") {
    add();
    REQUIRE(go(checkout_branch(git, repo, at(tree), "task", "refs/heads/main")));
    const auto work = commit(tree, "work", "work");
    write_file(tree + "/.gitignore", "*.o\n");
    write_file(tree + "/x.o", "kept");
    REQUIRE(exclude(at(tree).common_dir(), {"*.o"}));
    write_file(tree + "/untracked/deep", "x");
    write_file(tree + "/README", "changed");
    write_file(tree + "/staged", "x");
    plain(tree, {"add", "staged"});
    REQUIRE(go(reset_detached(git, at(tree), "refs/heads/main")));
    CHECK(ref(repo, "refs/heads/task") == work);
    CHECK(ref(tree, "HEAD") == ref(repo, "refs/heads/main"));
    CHECK(go(current_branch(git, tree)).value().empty());
    CHECK(contents(tree) == std::map<std::string, std::string>{{"README", "one\n"}, {"x.o", "kept"}});
    CHECK_FALSE(go(is_dirty(git, at(tree))).value());
}

TEST_CASE_METHOD(WorktreesFixture, "a reset removes pipes, and folders that hold nothing else") {
    write_file(repo + "/.gitignore", "out/\n");
    write_file(repo + "/src/deep/a", "a");
    plain(repo, {"add", "-A"});
    plain(repo, {"commit", "-qm", "folders"});
    add();
    for (const auto* folder : {"run", "out"}) std::filesystem::create_directory(tree + "/" + folder);
    const auto pipe = [&](const char* at) { REQUIRE(::mkfifo((tree + "/" + at).c_str(), 0600) == 0); };
    for (const auto* at : {"p", "src/p", "src/deep/p", "run/p", "out/p"}) pipe(at);
    SECTION("git says that the worktree is clean") {}
    SECTION("a file is untracked") {
        write_file(tree + "/src/new", "x");
    }
    WorktreeStatus standing = go(worktree_status(git, at(tree))).value();
    SECTION("it is not known how the worktree stands") {
        standing = {};
    }
    REQUIRE(go(reset_detached(git, at(tree), "refs/heads/main", standing)));
    for (const auto* gone : {"p", "src/p", "src/deep/p", "run", "src/new"}) {
        INFO(gone);
        CHECK_FALSE(std::filesystem::exists(tree + "/" + gone));
    }
    CHECK(std::filesystem::exists(tree + "/out/p"));  // ignored
    CHECK(read_file(tree + "/src/deep/a") == "a");
}

namespace {

/// While this lives, programs that root starts are bound by the modes of files like those of any other user.
struct RootIsBound {
    RootIsBound() { ::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT); }
    ~RootIsBound() { ::prctl(PR_SET_SECUREBITS, 0); }
    RootIsBound(const RootIsBound&) = delete;
    RootIsBound& operator=(const RootIsBound&) = delete;
};

}  // namespace

TEST_CASE_METHOD(WorktreesFixture, "a worktree with read-only folders is reset and removed") {
    write_file(repo + "/src/a", "a");
    plain(repo, {"add", "-A"});
    plain(repo, {"commit", "-qm", "a folder"});
    add();
    write_file(tree + "/cache/module/a.go", "a");
    write_file(tree + "/src/a", "changed");
    const auto lock = [&](const char* folder) { REQUIRE(::chmod((tree + "/" + folder).c_str(), 0555) == 0); };
    for (const auto* folder : {"cache/module", "cache", "src"}) lock(folder);
    const RootIsBound bound;
    SECTION("reset") {
        WorktreeStatus standing = go(worktree_status(git, at(tree))).value();
        REQUIRE(go(reset_detached(git, at(tree), "refs/heads/main", standing)));
        CHECK_FALSE(std::filesystem::exists(tree + "/cache"));
        CHECK(read_file(tree + "/src/a") == "a");
    }
    SECTION("removed") {
        REQUIRE(go(remove_worktree(git, repo, tree)));
        CHECK_FALSE(std::filesystem::exists(tree));
    }
}

TEST_CASE_METHOD(WorktreesFixture, "a reset ends a conflicted merge and a rebase, and moves no branch") {
    add();
    REQUIRE(go(checkout_branch(git, repo, at(tree), "task", "refs/heads/main")));
    const auto work = commit(tree, "README", "task's\n");
    commit(repo, "README", "main's\n");
    SECTION("merge") {
        plain(tree, {"merge", "main"}, true);
    }
    SECTION("rebase") {
        plain(tree, {"rebase", "main"}, true);
    }
    SECTION("cherry-pick") {
        plain(tree, {"cherry-pick", "main"}, true);
    }
    REQUIRE(go(is_dirty(git, at(tree))).value());
    REQUIRE(go(reset_detached(git, at(tree), "refs/heads/main")));
    CHECK(ref(repo, "refs/heads/task") == work);
    CHECK_FALSE(go(is_dirty(git, at(tree))).value());
    CHECK(read_file(tree + "/README") == "main's\n");
    REQUIRE(go(checkout_branch(git, repo, at(tree), "task", "refs/heads/main")));
}

TEST_CASE_METHOD(WorktreesFixture, "a worktree whose .git is broken never leads to the repository above it") {
    const auto inner = repo + "/inner";
    REQUIRE(go(add_worktree(git, repo, inner, "refs/heads/main")));
    const auto worktree = at(inner);
    std::filesystem::remove(inner + "/.git");
    write_file(repo + "/README", "precious");
    write_file(inner + "/README", "changed");
    SECTION("its .git is not asked") {
        CHECK(go(is_dirty(git, worktree)).value());
        CHECK(go(snapshot(git, worktree, "refs/orange/t/wip", "m")));
        CHECK(go(reset_detached(git, worktree, "refs/heads/main")));
        CHECK(read_file(inner + "/README") == "one\n");
    }
    SECTION("a repository that git cannot read is an error") {
        std::filesystem::remove(repo + "/.git/worktrees/inner/HEAD");
        CHECK_FALSE(go(is_dirty(git, worktree)));
        CHECK_FALSE(go(snapshot(git, worktree, "refs/orange/t/wip", "m")));
        CHECK_FALSE(go(reset_detached(git, worktree, "refs/heads/main")));
    }
    CHECK(read_file(repo + "/README") == "precious");
    CHECK(go(current_branch(git, repo)).value() == "main");
}

TEST_CASE_METHOD(WorktreesFixture,
                 "exclude lines are added once, for all worktrees, after a file without a last newline") {
    add();
    write_file(repo + "/.git/info/exclude", "old");
    REQUIRE(exclude(at(tree).common_dir(), {"TASK.md", "old"}));
    REQUIRE(exclude(at(tree).common_dir(), {"TASK.md", "more", "more"}));
    CHECK(read_file(repo + "/.git/info/exclude") == "old\nTASK.md\nmore\n");
    REQUIRE(exclude(at(tree).common_dir(), {"more"}, {"TASK.md", "none"}));
    CHECK(read_file(repo + "/.git/info/exclude") == "old\nmore\n");
}

TEST_CASE_METHOD(WorktreesFixture, "exclude lines are not written through a link, nor half") {
    add();
    const std::filesystem::path info = repo + "/.git/info";
    write_file(path("theirs"), "theirs\n");
    std::filesystem::remove(info / "exclude");
    std::filesystem::create_symlink(path("theirs"), info / "exclude");
    REQUIRE(exclude(at(tree).common_dir(), {"TASK.md"}));
    CHECK(read_file(path("theirs")) == "theirs\n");
    CHECK(read_file(info / "exclude") == "theirs\nTASK.md\n");

    std::filesystem::remove(info / "exclude");
    std::filesystem::create_directory(info / "exclude");
    CHECK_FALSE(exclude(at(tree).common_dir(), {"TASK.md"}));
    CHECK(std::distance(std::filesystem::directory_iterator(info), {}) == 1);
}

TEST_CASE_METHOD(WorktreesFixture, "tracked means committed at HEAD") {
    add();
    CHECK(go(tracks(git, at(tree), "README")).value());
    write_file(tree + "/TASK.md", "x");
    CHECK_FALSE(go(tracks(git, at(tree), "TASK.md")).value());
}
