// The file .pool.json, which says who has which workspace.
#include <regex>

#include "tests/fakes/faulty_file_system.hpp"
#include "tests/fakes/memory_file_system.hpp"
#include "tests/golden.hpp"
#include "tests/unit/pool/pool_fixture.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE_METHOD(PoolFixture, ".pool.json looks as it always has") {
    taken(task("a"));
    REQUIRE(go(pool.init(project)));
    pool.adopt_claims({{"tool--7", {"b"}}});
    taken(task("c"));
    REQUIRE(go(pool.release(project, task("c"))));
    const std::regex inode(R"re(("inode": |"root": )\d+)re");
    check_golden("pool.json", std::regex_replace(read_file(root / ".pool.json"), inode, "$017"));
}

TEST_CASE_METHOD(PoolFixture, "the next daemon knows who has which workspace") {
    taken(task("a"));
    Pool next(files, git, runner, repositories, root, "pool@test");
    REQUIRE(next.load());
    CHECK(next.task_at(root / "shop--1") == TaskId{"a"});
    CHECK(go(next.acquire(project, task("b"), {})).value().name == "shop--2");
}

TEST_CASE_METHOD(PoolFixture, "a .pool.json that makes no sense refuses everything and is left as it is") {
    for (const std::string content : {"{\"workspaces\": [", "[]", "{}", "{\"workspaces\": 3}", R"({"workspaces": [7]})",
                                      R"({"workspaces": [{"project": 3, "number": 1}]})",
                                      R"({"workspaces": [{"project": "shop", "number": "1", "task": null}]})",
                                      R"({"workspaces": [{"project": "../x", "number": 1}]})",
                                      R"({"schema": 2, "workspaces": []})", R"({"schema": "1", "workspaces": []})"}) {
        INFO(content);
        write_file(root / ".pool.json", content);
        Pool broken(files, git, runner, repositories, root, "pool@test");
        REQUIRE_FALSE(broken.load());
        const auto refused = go(broken.acquire(project, task("a"), {}));
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, Tells(".pool.json"));
        CHECK_FALSE(go(broken.init(project)));
        CHECK(read_file(root / ".pool.json") == content);
    }
}

TEST_CASE_METHOD(PoolFixture, "a claim that cannot be written is none") {
    testing::FaultyFileSystem faulty(files);
    Pool full(faulty, git, runner, repositories, root, "pool@test");
    faulty.fail_at(1);
    CHECK_FALSE(go(full.acquire(project, task("a"), {})));
    CHECK(full.list("shop").empty());
    CHECK_FALSE(std::filesystem::exists(root / "shop--1"));
    CHECK(go(full.acquire(project, task("b"), {})).value().name == "shop--1");
}

TEST_CASE_METHOD(PoolFixture, "a release whose claim cannot be taken back can be tried again") {
    testing::FaultyFileSystem faulty(files);
    Pool full(faulty, git, runner, repositories, root, "pool@test");
    const auto path = go(full.acquire(project, task("a"), {})).value().path;
    write_file(path / "left.txt", "left\n");
    faulty.fail_at(1);
    CHECK_FALSE(go(full.release(project, task("a"))));
    CHECK(full.task_at(path) == TaskId{"a"});
    CHECK(go(full.release(project, task("a"))));
    CHECK(plain(project.path, {"show", "refs/orange/a/wip:left.txt"}) == "left");
}

TEST_CASE_METHOD(PoolFixture, "a directory belongs to the workspace that it is in, and to no other") {
    taken(task("a"));
    taken(task("b"));
    REQUIRE(go(pool.release(project, task("b"))));
    CHECK(pool.task_at(root / "shop--1") == TaskId{"a"});
    CHECK(pool.task_at(root / "shop--1/") == TaskId{"a"});
    CHECK(pool.task_at(root / "shop--1/src/deep") == TaskId{"a"});
    CHECK(pool.task_at(root / "shop--2/../shop--1") == TaskId{"a"});
    CHECK_FALSE(pool.task_at(root));
    CHECK_FALSE(pool.task_at(root / "shop--1x"));
    CHECK_FALSE(pool.task_at(root / "shop--1/.."));
    CHECK_FALSE(pool.task_at(root / "shop--1/../../elsewhere"));
    CHECK_FALSE(pool.task_at("/"));
    CHECK_FALSE(pool.task_at(""));
    CHECK_FALSE(pool.task_at(root / "shop--2"));
    CHECK(pool.project_at(root / "shop--2/src") == "shop");
    CHECK_FALSE(pool.project_at(root));
    CHECK_FALSE(pool.project_at(root / "shop--1x"));
}

TEST_CASE("a file that is readable again says what the tasks did not know of their workspaces") {
    fakes::MemoryFileSystem files;
    const Path root = "/workspaces", file = root / ".pool.json";
    const TaskId task{"a"};
    Claims before(files, root);
    before.add("shop", "shop--1");
    before.add("shop", "shop--2");
    REQUIRE(before.write());
    before.adopt({{"shop--2", task}});
    before.set_walled("shop--2", true);
    git::Identity identity;
    identity.admin = "shop--2";
    before.set_identity("shop--2", identity);
    REQUIRE(before.write());

    files.failures.emplace(file, Error(ErrorCode::io, "reading .pool.json: Too many open files"));
    Claims next(files, root);
    REQUIRE_FALSE(next.load());
    next.adopt({{"shop--2", task}});
    files.failures.clear();
    Project project;
    project.name = "shop";
    project.pool_size = 2;
    CHECK(next.claim(project, TaskId{"b"}, {}).value() == "shop--1");
    Claims last(files, root);
    REQUIRE(last.load());
    for (const auto* claims : {&next, &last}) {
        CHECK(claims->is_walled("shop--2"));
        CHECK(claims->identity_of("shop--2")->admin == "shop--2");
        CHECK(claims->ports_of("shop--2") == before.ports_of("shop--2"));
        CHECK(claims->holder_of("shop--2") == task);
    }
}
