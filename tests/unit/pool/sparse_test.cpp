#include "tests/catch.hpp"
#include "tests/unit/pool/pool_fixture.hpp"

/// Worktrees that have only a part of their branch's files.
using namespace orange;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

struct SparsePool : PoolFixture {
    SparsePool() {
        project.pool_size = 1;
        for (const char* name : {"app/1", "app/2", "lib/1", "lib/deep/2", "docs/1"}) {
            write_file(project.path + "/" + name, std::string(name) + "\n");
        }
        plain(project.path, {"add", "-A"});
        plain(project.path, {"commit", "-qm", "files"});
    }
    void main_is_sparse(std::vector<std::string> how) {
        how.insert(how.begin(), {"sparse-checkout", "set"});
        plain(project.path, std::move(how));
    }
    Released released(const Task& task) { return go(pool.release(project, task)).value(); }
    /// Returns what a snapshot changes, compared with the commit below it.
    std::string changed(const std::string& snapshot) {
        return plain(project.path, {"diff", "--name-status", snapshot + "^", snapshot});
    }
};

}  // namespace

TEST_CASE_METHOD(SparsePool, "a snapshot of a sparse worktree has the files that are left out of it") {
    const std::string how = GENERATE("the user's folders", "the user's patterns", "with a sparse index", "the agent's",
                                     "the agent's marks");
    INFO(how);
    if (how == "the user's folders") main_is_sparse({"--cone", "app"});
    if (how == "the user's patterns") main_is_sparse({"--no-cone", "/*", "!lib/", "!docs/"});
    if (how == "with a sparse index") main_is_sparse({"--cone", "--sparse-index", "app"});
    const auto tree = taken(task("a"));
    if (how.starts_with("the agent's")) plain(tree, {"sparse-checkout", "set", "app"});
    if (how == "the agent's marks") plain(tree, {"config", "--worktree", "core.sparseCheckout", "false"});
    REQUIRE_FALSE(fs::exists(tree / "lib/1"));

    SECTION("only files have changed") {
        write_file(tree / "app/new", "new\n");
        CHECK(changed(released(task("a")).snapshot) == "A\tapp/new");
    }
    SECTION("something is staged") {
        write_file(tree / "app/1", "changed\n");
        plain(tree, {"add", "app/1"});
        fs::remove(tree / "app/2");
        write_file(tree / "README", "changed\n");
        CHECK(changed(released(task("a")).snapshot) == "M\tREADME\nM\tapp/1\nD\tapp/2");
    }
    SECTION("a file that is left out is staged with another text") {
        write_file(dir / "blob", "staged\n");
        const auto blob = plain(tree, {"hash-object", "-w", (dir / "blob").string()});
        plain(tree, {"update-index", "--add", "--cacheinfo", "100644," + blob + ",lib/1"});
        plain(tree, {"update-index", "--skip-worktree", "lib/1"});
        CHECK(changed(released(task("a")).snapshot) == "M\tlib/1");
    }
}

TEST_CASE_METHOD(SparsePool, "nothing is uncommitted in a sparse worktree that nobody has touched") {
    main_is_sparse({"--cone", "app"});
    const auto tree = taken(task("a"));
    REQUIRE_FALSE(fs::exists(tree / "lib/1"));
    CHECK(go(git::worktree_status(git, at(tree.string()))).value().clean);
    CHECK(released(task("a")).snapshot == "");
}

TEST_CASE_METHOD(SparsePool, "the next task's worktree is as sparse as the user's own checkout") {
    const auto tree = taken(task("a"));
    const auto has = [&](const char* file) { return fs::exists(tree / file); };
    SECTION("an agent has left files out") {
        plain(tree, {"sparse-checkout", "set", "app"});
        REQUIRE_FALSE(has("lib/1"));
        (void)released(task("a"));
        REQUIRE(acquire(task("b")));
        CHECK((has("lib/1") && has("docs/1")));
        CHECK(plain(tree, {"status", "--porcelain"}) == "");
    }
    SECTION("an agent has marked a file, and deleted it") {
        plain(tree, {"update-index", "--skip-worktree", "lib/1"});
        fs::remove(tree / "lib/1");
        (void)released(task("a"));
        REQUIRE(acquire(task("b")));
        CHECK(has("lib/1"));
    }
    SECTION("an agent has left out other files than the user, who is not sparse any more later") {
        (void)released(task("a"));
        main_is_sparse({"--cone", "app"});
        REQUIRE(acquire(task("b")));
        CHECK((has("app/1") && !has("lib/1") && !has("docs/1")));
        plain(tree, {"sparse-checkout", "set", "docs"});
        REQUIRE((has("docs/1") && !has("app/1")));
        (void)released(task("b"));
        REQUIRE(acquire(task("c")));
        CHECK((has("app/1") && !has("docs/1")));
        (void)released(task("c"));
        plain(project.path, {"sparse-checkout", "disable"});
        REQUIRE(acquire(task("d")));
        CHECK((has("app/1") && has("lib/deep/2") && has("docs/1")));
    }
}

TEST_CASE_METHOD(SparsePool, "a task that already has its workspace keeps what its agent left out") {
    auto own = task("a");
    const auto acquired = acquire(own).value();
    own.workspace = acquired.name;
    plain(acquired.path, {"sparse-checkout", "set", "app"});
    REQUIRE(acquire(own));
    CHECK_FALSE(fs::exists(acquired.path / "lib/1"));
}
