#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/faulty_file_system.hpp"
#include "tests/unit/pool/pool_fixture.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE_METHOD(PoolFixture, "tasks get the lowest free workspace, each on its branch") {
    CHECK(acquire(task("a")).value().name == "shop--1");
    CHECK(acquire(task("b")).value().name == "shop--2");
    REQUIRE(go(pool.release(project, task("a"))));
    CHECK(acquire(task("c")).value().name == "shop--1");
    CHECK(plain(root / "shop--1", {"branch", "--show-current"}) == "orange-tasks/c");
    CHECK(holder(2) == "b");
}

TEST_CASE_METHOD(PoolFixture, "no worktree is made in a home that went away while origin was asked") {
    testing::FaultyFileSystem leaving(files);
    Pool other{leaving, git, runner, repositories, root, "pool@test"};
    leaving.fail_at(2);  // the claim is written, then the folder is looked at
    const auto refused = go(other.acquire(project, task("a"), {}));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::io);
    CHECK_THAT(plain(project.path, {"worktree", "list"}), !Holds("shop--1"));
    CHECK_FALSE(std::filesystem::exists(root / "shop--1"));
}

TEST_CASE_METHOD(PoolFixture, "an exhausted pool says how to get more") {
    taken(task("a"));
    taken(task("b"));
    const auto refused = acquire(task("c"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::pool_exhausted);
    CHECK_THAT(refused.error().message, Tells("orange project update shop --pool-size"));
}

TEST_CASE_METHOD(PoolFixture, "a task that has a workspace gets the same one, as it is") {
    auto a = task("a");
    const auto path = taken(a);
    a.workspace = "shop--1";
    CHECK(acquire(a).value().path == path);
    CHECK(holder(1) == "a");
    CHECK(pool.list("shop").size() == 1);
}

TEST_CASE_METHOD(PoolFixture, "the setup command runs in the workspace, with the environment given") {
    project.setup = {"sh", "-c", "echo $HOME > .env"};
    const auto path = taken(task("a"));
    CHECK(read_file(path / ".env") == environment()["HOME"] + "\n");
}

TEST_CASE_METHOD(PoolFixture, "a setup that fails gives the workspace back, clean") {
    project.setup = {"sh", "-c", "echo half > made; echo no database >&2; exit 3"};
    const auto refused = acquire(task("a"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::external_failed);
    CHECK_THAT(refused.error().message, Holds("no database"));
    CHECK(holder(1) == "");
    CHECK_FALSE(std::filesystem::exists(root / "shop--1/made"));
    project.setup.clear();
    CHECK(acquire(task("b")).value().name == "shop--1");
}

TEST_CASE_METHOD(PoolFixture, "a branch that is checked out elsewhere gives the workspace back") {
    plain(project.path, {"switch", "-qc", "orange-tasks/a"});
    const auto refused = acquire(task("a"));
    REQUIRE_FALSE(refused);
    CHECK(holder(1) == "");
    CHECK(acquire(task("b")).value().name == "shop--1");
}

TEST_CASE_METHOD(PoolFixture, "a release keeps untracked and changed files under the task's ref, and moves no branch") {
    const auto a = task("a");
    const auto path = taken(a);
    const auto committed = commit(path, "done.txt", "done\n");
    write_file(path / "README", "changed\n");
    write_file(path / "new/file.txt", "new\n");
    const auto main = ref(project.path, "refs/heads/main");
    const auto released = go(pool.release(project, a)).value();
    CHECK(released.ref == "refs/orange/a/wip");
    CHECK(ref(project.path, released.ref) == released.snapshot);
    CHECK(plain(project.path, {"show", released.ref + ":new/file.txt"}) == "new");
    CHECK(plain(project.path, {"show", released.ref + ":README"}) == "changed");
    CHECK(ref(project.path, "refs/heads/orange-tasks/a") == committed);
    CHECK(ref(project.path, "refs/heads/main") == main);
    CHECK(plain(path, {"status", "--porcelain"}).empty());
    CHECK(plain(path, {"rev-parse", "HEAD"}) == main);
    CHECK(plain(path, {"branch", "--show-current"}).empty());
    CHECK(holder(1) == "");
}

TEST_CASE_METHOD(PoolFixture, "a release of a clean workspace makes no snapshot, and a second one does nothing") {
    taken(task("a"));
    CHECK(go(pool.release(project, task("a"))).value().snapshot.empty());
    CHECK(ref(project.path, "refs/orange/a/wip").empty());
    CHECK(go(pool.release(project, task("a"))));
}

TEST_CASE_METHOD(PoolFixture, "what somebody left in a free workspace is saved before a task takes it") {
    const auto path = taken(task("a"));
    REQUIRE(go(pool.release(project, task("a"))));
    write_file(path / "notes.txt", "mine\n");
    const auto acquired = acquire(task("b")).value();
    REQUIRE(acquired.notes.size() == 1);
    CHECK_THAT(acquired.notes[0], Tells("shop--1"));
    CHECK_FALSE(std::filesystem::exists(path / "notes.txt"));
    CHECK(plain(project.path, {"show", "refs/orange/shop--1/found:notes.txt"}) == "mine");
}

TEST_CASE_METHOD(PoolFixture, "a workspace whose folder was deleted is made anew") {
    const auto path = taken(task("a"));
    REQUIRE(go(pool.release(project, task("a"))));
    std::filesystem::remove_all(path);
    CHECK(acquire(task("b")).value().path == path);
    CHECK(read_file(path / "README") == "one\n");
}

TEST_CASE_METHOD(PoolFixture, "a workspace that lost its way to its repository, or git's lock on it, gets both back") {
    const auto path = taken(task("t1"));
    write_file(path / "left", "somebody's\n");
    const auto reason = [&] {
        return std::string(trim(read_file(Path(project.path) / ".git/worktrees/shop--1/locked")));
    };
    CHECK(reason() == "orange");
    plain(project.path, {"worktree", "unlock", path.string()});
    std::filesystem::remove(path / ".git");
    const auto again = acquire(task("t1"));
    INFO((again ? std::string() : again.error().message));
    REQUIRE(again);
    CHECK(again->path == path);
    CHECK(plain(project.path, {"show", "refs/orange/shop--1/found:left"}) == "somebody's");
    CHECK(plain(path, {"branch", "--show-current"}) == "orange-tasks/t1");
    CHECK(reason() == "orange");
}

TEST_CASE_METHOD(PoolFixture, "an origin that cannot be reached is a note") {
    const auto origin = make_origin(project.path);
    std::filesystem::remove_all(origin);
    const auto acquired = acquire(task("a")).value();
    REQUIRE(acquired.notes.size() == 1);
    CHECK_THAT(acquired.notes[0], Tells("origin"));
}

TEST_CASE_METHOD(PoolFixture, "a repository with a TASK.md of its own keeps it") {
    commit(project.path, "TASK.md", "theirs\n");
    CHECK(acquire(task("a")).value().task_file == ".orange/TASK.md");
}

TEST_CASE_METHOD(PoolFixture, "git is told to ignore what Orange writes, and nothing else of .orange") {
    const std::filesystem::path list = std::filesystem::path(project.path) / ".git/info/exclude";
    write_file(list, "mine\n");
    const bool tracked = GENERATE(false, true);
    if (tracked) commit(project.path, "TASK.md", "theirs\n");
    const auto acquired = acquire(task("a")).value();
    const auto ignored = [&](const std::string& file) {
        return !plain(acquired.path, {"check-ignore", file}, true).empty();
    };
    const auto folder = std::filesystem::path(acquired.task_file).parent_path();
    CHECK(ignored(acquired.task_file));
    CHECK(ignored((folder / ".TASK.md.x.tmp").string()));
    CHECK_FALSE(ignored(".orange/setup"));
    CHECK(ignored("mine"));
}

TEST_CASE_METHOD(PoolFixture, "a repository whose .orange is a link gets nothing written or removed behind it") {
    const auto notes = dir / "notes";
    write_file(notes / "TASK.md", "mine\n");
    std::filesystem::create_directory_symlink(notes, std::filesystem::path(project.path) / ".orange");
    plain(project.path, {"add", ".orange"});
    commit(project.path, "TASK.md", "theirs\n");
    const auto acquired = acquire(task("a"));
    REQUIRE(!acquired);
    CHECK_THAT(acquired.error().message, Tells(".orange"));
    CHECK(read_file(notes / "TASK.md") == "mine\n");
    CHECK(holder(1).empty());
}

TEST_CASE_METHOD(PoolFixture, "gc frees what nobody live holds, and keeps its work") {
    const auto path = taken(task("a"));
    taken(task("b"));
    write_file(path / "left.txt", "left\n");
    const auto done = go(pool.gc(project, [](const TaskId& id) { return id.value == "b"; })).value();
    REQUIRE(done.size() == 1);
    CHECK_THAT(done[0], Tells("shop--1"));
    CHECK(plain(project.path, {"show", "refs/orange/a/wip:left.txt"}) == "left");
    CHECK(holder(1) == "");
    CHECK(holder(2) == "b");
}

TEST_CASE_METHOD(PoolFixture,
                 "a task that takes up its old claim while gc frees it has a workspace of its own in the end") {
    const auto a = task("a");
    REQUIRE(acquire(a));  // by a daemon that was killed before it said so in the task's record
    bool collected = false;
    std::optional<Result<Acquired>> acquired;
    const auto collect = [](Pool& from, Project whose, bool& done) -> Awaitable<void> {
        std::function<bool(const TaskId&)> nobody = [](const TaskId&) { return false; };
        done = (co_await from.gc(whose, nobody)).has_value();
    };
    const auto take = [](Pool& from, Project whose, Task who, std::optional<Result<Acquired>>& into,
                         bool second) -> Awaitable<void> {
        while (second && !from.list("shop").front().busy) co_await async::yield();
        const std::vector<std::string> nothing;
        into = co_await from.acquire(whose, who, nothing);
    };
    SECTION("gc is first") {
        async::spawn(io.get_executor(), "gc", collect(pool, project, collected));
        async::spawn(io.get_executor(), "task", take(pool, project, a, acquired, true));
    }
    SECTION("the task is first") {
        async::spawn(io.get_executor(), "task", take(pool, project, a, acquired, false));
        async::spawn(io.get_executor(), "gc", collect(pool, project, collected));
    }
    io.restart();
    io.run_for(std::chrono::seconds(60));
    CHECK(collected);
    REQUIRE(acquired);
    REQUIRE(*acquired);
    CHECK(holder(1) == "a");
    CHECK(plain((*acquired)->path, {"branch", "--show-current"}) == a.branch);
    CHECK(acquire(task("b")).value().path != (*acquired)->path);
}

TEST_CASE_METHOD(PoolFixture, "a pool that was made smaller gives nothing out until it is below its size") {
    project.pool_size = 3;
    for (const char* id : {"a", "b", "c"}) taken(task(id));
    REQUIRE(go(pool.release(project, task("a"))));
    project.pool_size = 2;
    CHECK(pool.free(project) == 0);
    CHECK(acquire(task("d")).error().code == ErrorCode::pool_exhausted);
    project.pool_size = 1;
    CHECK_THAT(acquire(task("d")).error().message, Tells("shop") && Tells("2") && Tells("1"));
    project.pool_size = 2;
    REQUIRE(go(pool.release(project, task("b"))));
    CHECK(pool.free(project) == 1);
    CHECK(taken(task("d")) == root / "shop--1");
    CHECK(holder(3) == "c");
}

TEST_CASE_METHOD(PoolFixture, "gc removes what is more than the pool's size, never what is taken") {
    taken(task("a"));
    taken(task("b"));
    REQUIRE(go(pool.release(project, task("a"))));
    project.pool_size = 1;
    const auto none = go(pool.gc(project, [](const TaskId&) { return true; })).value();
    CHECK(none.empty());
    REQUIRE(go(pool.release(project, task("b"))));
    const auto done = go(pool.gc(project, [](const TaskId&) { return true; })).value();
    REQUIRE(done.size() == 1);
    CHECK_THAT(done[0], Tells("shop--2"));
    CHECK_FALSE(std::filesystem::exists(root / "shop--2"));
    CHECK(std::filesystem::exists(root / "shop--1"));
}

TEST_CASE_METHOD(PoolFixture, "gc keeps what somebody left in a free workspace that it removes") {
    taken(task("a"));
    const auto path = taken(task("b"));
    REQUIRE(go(pool.release(project, task("b"))));
    write_file(path / "notes.txt", "mine\n");
    project.pool_size = 1;
    REQUIRE(go(pool.gc(project, [](const TaskId&) { return true; })));
    CHECK(plain(project.path, {"show", "refs/orange/shop--2/found:notes.txt"}, true) == "mine");
}

TEST_CASE_METHOD(PoolFixture, "gc forgets a workspace whose folder is gone") {
    const auto path = taken(task("a"));
    std::filesystem::remove_all(path);
    CHECK_FALSE(pool.list("shop")[0].problem.empty());
    const auto done = go(pool.gc(project, [](const TaskId&) { return false; })).value();
    CHECK(done.size() == 2);
    CHECK(pool.list("shop").empty());
    CHECK(acquire(task("b")).value().name == "shop--1");
}

TEST_CASE_METHOD(PoolFixture, "a project with a taken workspace cannot leave") {
    taken(task("a"));
    CHECK(go(pool.remove_workspaces(project)).error().code == ErrorCode::conflict);
    REQUIRE(go(pool.release(project, task("a"))));
    CHECK(go(pool.remove_workspaces(project)));
    CHECK(pool.list("shop").empty());
    CHECK_THAT(plain(project.path, {"worktree", "list", "--porcelain"}), !Holds("shop--1"));
}

TEST_CASE_METHOD(PoolFixture, "init makes workspaces up to the pool's size, once") {
    CHECK(go(pool.init(project)).value().size() == 2);
    CHECK(go(pool.init(project)).value().empty());
    CHECK(std::filesystem::exists(root / "shop--2/README"));
}
