#include "daemon/git/submodules.hpp"

#include "tests/catch.hpp"
#include "tests/unit/pool/pool_fixture.hpp"

/// Submodules of worktrees: git removes their repositories together with the worktree.
using namespace orange;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

struct SubmodulePool : PoolFixture {
    SubmodulePool() {
        lib = make_repo("lib-work");
        origin = make_origin(lib, "lib.git");
        plain(project.path, {"submodule", "--quiet", "add", origin, "lib"});
        plain(project.path, {"commit", "-qm", "add lib"});
        recorded = plain(project.path, {"rev-parse", "HEAD:lib"});
    }
    /// The worktree of a task, with the submodule's files.
    Path taken_with_lib(const std::string& id) {
        const auto tree = taken(task(id));
        plain(tree, {"submodule", "--quiet", "update", "--init"});
        return tree;
    }
    Released released(const std::string& id) { return go(pool.release(project, task(id))).value(); }
    bool is_kept(const std::string& object) { return plain(project.path, {"cat-file", "-t", object}, true) != ""; }
    bool is_reachable(const std::string& text) {
        write_file(dir / "blob", text);
        const auto blob = plain(dir.path, {"hash-object", "--no-filters", (dir / "blob").string()});
        return plain(project.path, {"rev-list", "--objects", "--all"}).find(blob) != std::string::npos;
    }
    std::string head_of(const Path& folder) { return plain(folder, {"rev-parse", "HEAD"}); }
    std::string status(const Path& tree) {
        return plain(tree, {"status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none"});
    }
    void gc() {
        const std::function<bool(const TaskId&)> nobody = [](const TaskId&) { return false; };
        (void)go(pool.gc(project, nobody)).value();
    }

    std::string lib, origin, recorded;
};

}  // namespace

TEST_CASE_METHOD(SubmodulePool, "work in a submodule is kept, and the next task begins without it") {
    project.pool_size = 1;
    const auto tree = taken_with_lib("a");
    const auto on_branch = commit(tree / "lib", "x", "committed\n");
    plain(tree / "lib", {"branch", "mine"});
    plain(tree / "lib", {"checkout", "-q", "--detach"});
    write_file(tree / "lib/x", "stashed first\n");
    plain(tree / "lib", {"stash", "-q"});
    write_file(tree / "lib/x", "stashed\n");
    plain(tree / "lib", {"stash", "-q"});
    const auto detached = commit(tree / "lib", "x", "detached\n");
    write_file(tree / "lib/x", "staged\n");
    plain(tree / "lib", {"add", "x"});
    write_file(tree / "lib/x", "changed\n");
    write_file(tree / "lib/new", "untracked\n");
    plain(tree / "lib", {"init", "-q", "inner"});
    const auto inner = commit(tree / "lib/inner", "y", "inside\n");

    const auto kept = released("a");
    CHECK_FALSE(kept.commits.empty());
    CHECK((is_kept(on_branch) && is_kept(detached) && is_kept(inner)));
    for (const char* text : {"stashed first\n", "stashed\n", "staged\n", "changed\n", "untracked\n", "inside\n"}) {
        INFO(text);
        CHECK(is_reachable(text));
    }
    // The snapshot of the worktree has the commit that the submodule was on.
    CHECK(plain(project.path, {"rev-parse", "refs/orange/a/wip:lib"}) == detached);

    REQUIRE(acquire(task("b")));
    CHECK(status(tree) == "");
    CHECK(head_of(tree / "lib") == recorded);
    CHECK(plain(tree / "lib", {"for-each-ref", "refs/heads", "refs/stash", "refs/orange"}) == "");
    CHECK(released("b").commits.empty());
}

TEST_CASE_METHOD(SubmodulePool, "a submodule that nobody has changed stays as it is, and nothing of it is kept") {
    project.pool_size = 1;
    const auto tree = taken_with_lib("a");
    write_file(tree / "own", "own\n");
    const auto kept = released("a");
    CHECK(kept.commits.empty());
    CHECK_FALSE(kept.snapshot.empty());
    REQUIRE(acquire(task("b")));
    CHECK(fs::exists(tree / "lib/README"));
    CHECK(status(tree) == "");
}

TEST_CASE_METHOD(SubmodulePool, "work in a submodule outlives its workspace") {
    REQUIRE(acquire(task("first")));
    const auto tree = taken_with_lib("a");
    const auto only_here = commit(tree / "lib", "x", "only here\n");
    write_file(tree / "lib/notes", "precious\n");
    SECTION("the task is given back, and the pool is made smaller") {
        plain(tree, {"commit", "-qam", "bump"});
        (void)released("a");
    }
    SECTION("its files were taken out of the worktree") {
        plain(tree, {"submodule", "--quiet", "deinit", "-f", "lib"});
        write_file(tree / "notes", "precious\n");
    }
    SECTION("the folder of its worktree was deleted") {
        plain(tree / "lib", {"add", "notes"});
        plain(tree / "lib", {"commit", "-qm", "notes"});
        fs::remove_all(tree);
    }
    SECTION("a human worked in a free workspace") {
        (void)released("a");
        plain(tree, {"submodule", "--quiet", "update", "--init"});
        plain(tree / "lib", {"checkout", "-q", "-b", "human"});
        commit(tree / "lib", "z", "of a human\n");
        project.pool_size = 1;
        gc();
        CHECK(is_reachable("of a human\n"));
    }
    project.pool_size = 1;
    gc();
    CHECK_FALSE(fs::exists(tree));
    CHECK(is_kept(only_here));
    CHECK(is_reachable("precious\n"));
}

TEST_CASE_METHOD(SubmodulePool, "the next task has the submodules of its own branch") {
    project.pool_size = 1;
    const auto tree = taken_with_lib("a");
    SECTION("a branch that has another commit of the submodule") {
        const auto other = commit(tree / "lib", "x", "bumped\n");
        plain(tree, {"commit", "-qam", "bump"});
        (void)released("a");
        CHECK(head_of(tree / "lib") == recorded);
        auto next = task("b");
        next.branch = "orange-tasks/a";
        REQUIRE(acquire(next));
        CHECK(head_of(tree / "lib") == other);
        CHECK(status(tree) == "");
    }
    SECTION("a branch without the submodule") {
        plain(project.path, {"branch", "without", "HEAD^"});
        (void)released("a");
        auto next = task("b");
        next.branch = "without";
        REQUIRE(acquire(next));
        CHECK_FALSE(fs::exists(tree / "lib"));
        CHECK(status(tree) == "");
    }
    SECTION("one that the task before has only begun to add") {
        plain(tree, {"submodule", "--quiet", "add", origin, "second"});
        const auto only_here = commit(tree / "second", "x", "only here\n");
        (void)released("a");
        CHECK(is_kept(only_here));
        REQUIRE(acquire(task("b")));
        CHECK_FALSE(fs::exists(tree / "second"));
        CHECK(status(tree) == "");
        plain(tree, {"submodule", "--quiet", "add", origin, "second"});
        CHECK(head_of(tree / "second") == recorded);
    }
}

TEST_CASE_METHOD(SubmodulePool, "a submodule inside a submodule is kept and reset, too") {
    project.pool_size = 1;
    const auto deep = make_origin(make_repo("deep-work"), "deep.git");
    plain(lib, {"submodule", "--quiet", "add", deep, "deep"});
    plain(lib, {"commit", "-qm", "add deep"});
    plain(lib, {"push", "-q", "origin", "main"});
    plain(project.path + "/lib", {"pull", "-q", "origin", "main"});
    plain(project.path, {"commit", "-qam", "with deep"});
    const auto tree = taken(task("a"));
    plain(tree, {"submodule", "--quiet", "update", "--init", "--recursive"});
    const auto only_here = commit(tree / "lib/deep", "x", "only here\n");
    write_file(tree / "lib/deep/new", "deep and untracked\n");
    (void)released("a");
    CHECK(is_kept(only_here));
    CHECK(is_reachable("deep and untracked\n"));
    REQUIRE(acquire(task("b")));
    CHECK(status(tree) == "");
    CHECK(fs::exists(tree / "lib/deep/README"));
}

TEST_CASE_METHOD(SubmodulePool,
                 "a .git of a submodule that leads to somebody else's repository changes nothing there") {
    const auto victim = make_repo("victim");
    write_file(victim + "/uncommitted", "theirs\n");
    const auto before = everything(victim);
    const auto tree = taken_with_lib("a");
    SECTION("in the worktree") {
        write_file(tree / "lib/.git", "gitdir: " + victim + "/.git\n");
    }
    SECTION("in the place of its repository") {
        const auto module = Path(project.path) / ".git/worktrees/shop--1/modules/lib";
        fs::rename(module, dir / "moved");
        fs::create_directory_symlink(victim + "/.git", module);
    }
    (void)go(pool.release(project, task("a")));
    CHECK(everything(victim) == before);
}

TEST_CASE_METHOD(SubmodulePool, "a commit of a submodule that none of its remotes has is found before a merge") {
    const auto tree = taken_with_lib("a");
    const auto worktree = go(pool.open(project, "shop--1")).value();
    const auto unpublished = [&](bool may_fetch) {
        const auto tip = head_of(tree);
        const std::string base = "refs/heads/main";
        return go(git::unpublished_submodules(git, project.path, worktree, base, tip, may_fetch)).value();
    };
    commit(tree, "own", "own\n");
    CHECK(unpublished(false).empty());
    const auto only_here = commit(tree / "lib", "x", "only here\n");
    plain(tree, {"commit", "-qam", "bump"});
    REQUIRE(unpublished(true).size() == 1);
    CHECK((unpublished(false)[0].path == "lib" && unpublished(false)[0].commit == only_here));
    plain(tree / "lib", {"push", "-q", origin, "HEAD:refs/heads/topic"});
    CHECK(unpublished(true).empty());
}

TEST_CASE_METHOD(SubmodulePool,
                 "a commit of a submodule is found at its remote though it is only in a walled worktree") {
    const auto tree = taken_with_lib("a");
    REQUIRE(pool.note_walled("shop--1"));
    const auto worktree = go(pool.open(project, "shop--1")).value();
    commit(tree / "lib", "x", "published\n");
    plain(tree, {"commit", "-qam", "bump"});
    const auto unpublished = [&](bool may_fetch) {
        const auto tip = head_of(tree);
        const std::string base = "refs/heads/main";
        return go(git::unpublished_submodules(git, project.path, worktree, base, tip, may_fetch)).value().size();
    };
    CHECK(unpublished(true) == 1);
    plain(tree / "lib", {"push", "-q", origin, "HEAD:refs/heads/topic"});
    CHECK(unpublished(false) == 1);
    CHECK(unpublished(true) == 0);
}

TEST_CASE_METHOD(SubmodulePool, "the place of checks has the submodules of its commit, also without their remotes") {
    const auto deep = make_repo("deep-work");
    const auto deep_origin = make_origin(deep, "deep.git");
    const auto in_project = Path(project.path) / "lib";
    plain(in_project, {"submodule", "--quiet", "add", deep_origin, "deep"});
    plain(in_project, {"commit", "-qm", "add deep"});
    plain(project.path, {"commit", "-qam", "lib has deep"});
    const auto first = plain(project.path, {"rev-parse", "HEAD"});
    const auto with_deep = head_of(in_project);
    fs::remove_all(origin);
    fs::remove_all(deep_origin);
    REQUIRE(go(pool.init(project)));
    std::vector<std::string> notes;
    const Path place = go(pool.open_checks_place(project, first, notes)).value().path();
    CHECK(notes.empty());
    CHECK(status(place) == "");
    CHECK(head_of(place / "lib") == with_deep);
    CHECK(head_of(place / "lib/deep") == head_of(in_project / "deep"));
    CHECK(plain(place / "lib", {"config", "remote.origin.url"}) == origin);

    // The place stays, and comes to the next commit.
    const auto next = commit(in_project, "x", "new\n");
    plain(project.path, {"commit", "-qam", "newer lib"});
    write_file(place / "lib/left", "by a check\n");
    const auto second = plain(project.path, {"rev-parse", "HEAD"});
    REQUIRE(go(pool.open_checks_place(project, second, notes)));
    CHECK(notes.empty());
    CHECK(head_of(place / "lib") == next);
    CHECK(status(place) == "");
}

TEST_CASE_METHOD(SubmodulePool, "the place of checks leaves the repository's config file as it was") {
    plain(project.path, {"config", "-f", ".gitmodules", "submodule.lib.update", "none"});
    plain(project.path, {"commit", "-qam", "no updates of lib"});
    plain(project.path, {"config", "--remove-section", "submodule.lib"});
    REQUIRE(go(pool.init(project)));
    const auto before = read_file(Path(project.path) / ".git/config");
    std::vector<std::string> notes;
    const Path place = go(pool.open_checks_place(project, "main", notes)).value().path();
    CHECK(notes.empty());
    CHECK(fs::exists(place / "lib/README"));
    CHECK(read_file(Path(project.path) / ".git/config") == before);
}

TEST_CASE_METHOD(SubmodulePool, "a submodule that is nowhere on this machine is told, and the place is there") {
    REQUIRE(go(pool.init(project)));
    fs::remove_all(Path(project.path) / ".git/modules");
    std::vector<std::string> notes;
    const Path place = go(pool.open_checks_place(project, "main", notes)).value().path();
    REQUIRE(notes.size() == 1);
    CHECK_THAT(notes[0], Tells((place / "lib").string()) && Tells("git submodule update --init --recursive"));
    CHECK(fs::exists(place / "README"));
    CHECK(fs::is_empty(place / "lib"));
}
