#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <array>
#include <new>

#include "common/base/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/unit/pool/pool_fixture.hpp"

/// What a worktree needs so that it can run: .worktreeinclude, setup, teardown, ports.
using namespace orange;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

struct Including : PoolFixture {
    Including() { write_file(repo / ".git/info/exclude", "*.env\n/secret/\n/cache\n/linked\n/config/\nTASK.md\n"); }
    void include(const std::string& patterns) { write_file(repo / ".worktreeinclude", patterns); }

    fs::path repo = project.path;
};

/// Returns true if two files share the data of the first one on the disk.
bool shares_data(const fs::path& file) {
    alignas(struct fiemap) std::array<char, sizeof(struct fiemap) + sizeof(struct fiemap_extent)> space{};
    auto* map = ::new (space.data()) struct fiemap();
    map->fm_length = FIEMAP_MAX_OFFSET;
    map->fm_flags = FIEMAP_FLAG_SYNC;
    map->fm_extent_count = 1;
    const UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    const bool known = ::ioctl(opened.get(), FS_IOC_FIEMAP, map) == 0 && map->fm_mapped_extents > 0;
    return known && (map->fm_extents[0].fe_flags & FIEMAP_EXTENT_SHARED) != 0;
}

/// Returns true if the file system of that folder makes clones.
bool can_clone(const fs::path& folder) {
    write_file(folder / "original", "x");
    const UniqueFd from(::open((folder / "original").c_str(), O_RDONLY | O_CLOEXEC));
    const UniqueFd to(::open((folder / "clone").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return ::ioctl(to.get(), FICLONE, from.get()) == 0;
}

struct Program {
    Program(const fs::path& repo, const std::string& name) : file(repo / ".orange" / name) {}
    void says(const std::string& script) const {
        write_file(file, "#!/bin/sh\n" + script);
        fs::permissions(file, fs::perms::owner_all);
    }
    std::string consent() const { return ".orange/" + file.filename().string() + " " + sha256(read_file(file)); }

    fs::path file;
};

}  // namespace

TEST_CASE_METHOD(Including,
                 "ignored files that .worktreeinclude names are copied, with their permissions, and no others") {
    include("# comment\n.env\nsecret/*\n!secret/not-this\nREADME\nplain\nTASK.md\n");
    write_file(repo / ".env", "KEY=1\n");
    fs::permissions(repo / ".env", fs::perms::owner_read | fs::perms::owner_write);
    write_file(repo / "deep/er/.env", "KEY=2\n");
    write_file(repo / "other.env", "not named\n");
    write_file(repo / "plain", "not ignored\n");
    write_file(repo / "secret/run", "program\n");
    fs::permissions(repo / "secret/run", fs::perms::owner_all);
    write_file(repo / "secret/not-this", "no\n");
    write_file(repo / "TASK.md", "of somebody else\n");
    const auto acquired = acquire(task("a")).value();
    CHECK(acquired.notes.empty());
    CHECK(read_file(acquired.path / ".env") == "KEY=1\n");
    CHECK(fs::status(acquired.path / ".env").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(read_file(acquired.path / "deep/er/.env") == "KEY=2\n");
    CHECK(fs::status(acquired.path / "secret/run").permissions() == fs::perms::owner_all);
    for (const char* name : {"other.env", "plain", "secret/not-this", "TASK.md"}) {
        CHECK_FALSE(fs::exists(acquired.path / name));
    }
    CHECK(plain(acquired.path, {"status", "--porcelain"}).empty());
}

TEST_CASE_METHOD(Including, "a large file is cloned where the file system can do that, and copied elsewhere") {
    include("big.env\n");
    std::string content;
    while (content.size() < 5'000'000) content += random_id(16);
    write_file(repo / "big.env", content);
    fs::permissions(repo / "big.env", fs::perms::owner_read);
    const auto copy = taken(task("a")) / "big.env";
    CHECK(read_file(copy) == content);
    CHECK(fs::status(copy).permissions() == fs::perms::owner_read);
    CHECK(shares_data(copy) == can_clone(dir.path));  // campaigns/clones runs it on file systems that can
    if (::geteuid() == 0) fs::permissions(copy, fs::perms::owner_all);
    write_file(copy, "another\n");
    CHECK(read_file(repo / "big.env") == content);
}

TEST_CASE_METHOD(Including, "nothing from outside of the repository is copied, whatever links and patterns say") {
    write_file(dir / "outside/secret.env", "secret\n");
    include("../outside/secret.env\n" + (dir / "outside").string() + "/\n*.env\ncache\nlinked\n");
    fs::create_symlink(dir / "outside/secret.env", repo / "stolen.env");
    fs::create_directory_symlink(dir / "outside", repo / "linked");
    REQUIRE(::mkfifo((repo / "pipe.env").c_str(), 0600) == 0);
    const auto acquired = acquire(task("a")).value();
    for (const char* name : {"stolen.env", "linked", "secret.env", "outside", "pipe.env"}) {
        CHECK_FALSE(fs::exists(fs::symlink_status(acquired.path / name)));
    }
    CHECK_THAT(join(acquired.notes, "\n"), Tells("stolen.env") && Tells("linked"));
}

TEST_CASE_METHOD(Including, "a .worktreeinclude that is a link names nothing") {
    write_file(dir / "outside/list", ".env\n");
    write_file(repo / ".env", "KEY=1\n");
    fs::create_symlink(dir / "outside/list", repo / ".worktreeinclude");
    CHECK_FALSE(fs::exists(taken(task("a")) / ".env"));
}

TEST_CASE_METHOD(Including, "a file that the branch tracks stays as it is, and nothing is written through a link") {
    plain(repo, {"checkout", "-q", "-b", "orange-tasks/a"});
    write_file(repo / "x.env", "tracked\n");
    fs::create_directories(dir / "outside");
    fs::create_directory_symlink(dir / "outside", repo / "config");
    plain(repo, {"add", "-f", "x.env", "config"});
    plain(repo, {"commit", "-q", "-m", "a file and a link"});
    plain(repo, {"checkout", "-q", "main"});
    include("*.env\nconfig/\n");
    write_file(repo / "x.env", "of the main checkout\n");
    write_file(repo / "config/key", "of the main checkout\n");
    const auto acquired = acquire(task("a")).value();
    CHECK(read_file(acquired.path / "x.env") == "tracked\n");
    CHECK(fs::is_empty(dir / "outside"));
    CHECK(plain(acquired.path, {"status", "--porcelain"}).empty());
}

TEST_CASE_METHOD(Including, "the next task gets the file of the main checkout, a task that goes on keeps its own") {
    include("*.env\n");
    write_file(repo / ".env", "1\n");
    auto a = task("a");
    const auto path = taken(a);
    write_file(path / ".env", "changed by the agent\n");
    a.workspace = "shop--1";
    REQUIRE(acquire(a));
    CHECK(read_file(path / ".env") == "changed by the agent\n");
    REQUIRE(go(pool.release(project, a)));
    write_file(repo / ".env", "2\n");
    REQUIRE(taken(task("b")) == path);
    CHECK(read_file(path / ".env") == "2\n");
}

TEST_CASE_METHOD(PoolFixture, "a setup that the repository brings runs once a human has agreed to its very text") {
    const Program setup(project.path, "setup");
    setup.says("echo done >ran\n");
    plain(project.path, {"add", "-f", ".orange/setup"});
    plain(project.path, {"commit", "-q", "-m", "setup"});
    const auto without = acquire(task("a")).value();
    CHECK_FALSE(fs::exists(without.path / "ran"));
    CHECK_THAT(join(without.notes, "\n"), Tells("orange harness trust .orange/setup --project shop"));
    REQUIRE(go(pool.release(project, task("a"))));
    project.trusted = {setup.consent()};
    const auto with = acquire(task("b")).value();
    CHECK(with.notes.empty());
    CHECK(read_file(with.path / "ran") == "done\n");
    REQUIRE(go(pool.release(project, task("b"))));

    SECTION("another text needs another answer, and the place of that text is named") {
        plain(project.path, {"checkout", "-q", "-b", "orange-tasks/c"});
        setup.says("echo worse >ran\n");
        plain(project.path, {"commit", "-q", "-a", "-m", "worse"});
        plain(project.path, {"checkout", "-q", "main"});
        const auto changed = acquire(task("c")).value();
        CHECK_FALSE(fs::exists(changed.path / "ran"));
        CHECK_THAT(join(changed.notes, "\n"), Tells("orange harness trust .orange/setup " + changed.path.string()));
    }
    SECTION("the project's own setup replaces it") {
        project.setup = {"sh", "-c", "echo own >ran"};
        CHECK(read_file(taken(task("d")) / "ran") == "own\n");
    }
}

TEST_CASE_METHOD(PoolFixture, "a teardown runs in the worktree before it is given back, and its failure is only told") {
    const auto log = (dir / "log").string();
    const auto path = taken(task("a"));
    write_file(path / "left.txt", "left\n");
    teardown = {{"sh", "-c", "exit 3"}, {"sh", "-c", "pwd >>" + log + "; cat left.txt >>" + log}, {"no-such-program"}};
    const auto released = go(pool.release(project, task("a"))).value();
    CHECK(read_file(log) == path.string() + "\nleft\n");
    CHECK(released.failures.size() == 2);
    CHECK(released.notes.empty());
    CHECK(holder(1).empty());
    CHECK(plain(project.path, {"show", "refs/orange/a/wip:left.txt"}) == "left");
    REQUIRE(go(pool.release(project, task("a"))));
    CHECK(read_file(log) == path.string() + "\nleft\n");  // once
}

TEST_CASE_METHOD(PoolFixture, "a setup that fails is torn down") {
    const auto log = (dir / "log").string();
    project.setup = {"false"};
    teardown = {{"sh", "-c", "echo torn down >>" + log}};
    CHECK_FALSE(acquire(task("a")));
    CHECK(read_file(log) == "torn down\n");
    CHECK(holder(1).empty());
}

TEST_CASE_METHOD(PoolFixture, "a teardown of the repository needs an agreement, too") {
    const Program program(project.path, "teardown");
    const auto log = (dir / "log").string();
    program.says("echo torn down >>" + log + "\n");
    plain(project.path, {"add", "-f", ".orange/teardown"});
    plain(project.path, {"commit", "-q", "-m", "teardown"});
    taken(task("a"));
    CHECK_THAT(join(go(pool.release(project, task("a"))).value().notes, "\n"), Tells(".orange/teardown"));
    CHECK_FALSE(fs::exists(log));
    project.trusted = {program.consent()};
    taken(task("b"));
    CHECK(go(pool.release(project, task("b"))).value().notes.empty());
    CHECK(read_file(log) == "torn down\n");
}

TEST_CASE_METHOD(PoolFixture, "each workspace has a range of ports of its own, which the next daemon knows") {
    taken(task("a"));
    auto other = project;
    other.name = "tool";
    other.path = make_repo("tool");
    REQUIRE(go(pool.acquire(other, task("t"), {})));
    taken(task("b"));
    CHECK(pool.ports_of("shop--1") == 0);
    CHECK(pool.ports_of("tool--1") == 1);
    CHECK(pool.ports_of("shop--2") == 2);
    Pool next(files, git, runner, repositories, root, "pool@test");
    REQUIRE(next.load());
    CHECK(next.ports_of("tool--1") == 1);
    CHECK(next.ports_of("shop--2") == 2);
    REQUIRE(go(next.release(project, task("a"))));
    CHECK(next.ports_of("shop--1") == 0);
}
