#include "daemon/runner/branch/branch.hpp"

#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

/// `orange task update-branch`: the default branch comes into the task's branch, and what is not committed stays.
using namespace orange;
using namespace orange::test;

namespace {

struct Stale {
    explicit Stale(const std::string& file = "other", bool with_origin = true) {
        if (with_origin) origin = world.git.make_origin(world.repo(), "live/origin.git");
        id = ready_to_merge(world);
        tree = (world.home() / "workspaces/shop--1").string();
        world.git.commit(world.repo(), file, "of main\n");
        if (with_origin) {
            world.git.plain(world.repo(), {"push", "-q", "origin", "main"});
            world.git.plain(world.repo(), {"update-ref", "refs/remotes/origin/main", "main~1"});  // fetched anew
        }
        base = head(world.repo());
        before = head(tree);
    }
    std::string head(const std::string& where) { return world.git.plain(where, {"rev-parse", "HEAD"}); }
    Result<Outcome> update() { return world.house().go(update_branch(world.house().runner(), id, a_human())); }
    Error refused() {
        const auto updated = update();
        REQUIRE_FALSE(updated);
        CHECK(updated.error().code == ErrorCode::conflict);
        CHECK(head(tree) == before);
        CHECK(world.events(id, "branch.updated").empty());
        return updated.error();
    }

    RunnerWorld world;
    std::string origin, tree, base, before;
    TaskId id;
};

}  // namespace

TEST_CASE("a branch is updated with what origin's default branch has by now") {
    const bool with_origin = GENERATE(true, false);
    Stale task("other", with_origin);
    REQUIRE(task.update());
    const auto now = task.head(task.tree);
    CHECK(task.world.git.plain(task.tree, {"log", "-1", "--format=%P"}) == task.before + " " + task.base);
    CHECK(task.world.git.plain(task.tree, {"show", "HEAD:other"}) == "of main");
    const auto told = task.world.events(task.id, "branch.updated");
    REQUIRE(told.size() == 1);
    CHECK(told[0].fields.at("to") == Scalar{now});
    CHECK(told[0].fields.at("base") == Scalar{std::string(with_origin ? "origin/main" : "main")});

    REQUIRE(task.update());  // up to date: nothing happens
    CHECK(task.head(task.tree) == now);
    CHECK(task.world.events(task.id, "branch.updated").size() == 1);
}

TEST_CASE("an update whose merge commit is not by its user says so") {
    Stale task;
    write_file(task.world.git.dir / "home/.gitconfig", "[user]\n\tname = Ursula\n");
    const auto updated = task.update().value();
    CHECK_THAT(updated.notes.back(), Tells("git config --global user.email you@example.com"));
}

TEST_CASE("a branch without a commit of its own has none after an update either") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto tree = (world.home() / "workspaces/shop--1").string();
    world.git.commit(world.repo(), "other", "of main\n");
    const auto base = world.git.plain(world.repo(), {"rev-parse", "HEAD"});
    auto& house = world.house();
    const auto at_work = house.go(update_branch(house.runner(), id, a_human()));
    REQUIRE_FALSE(at_work);
    CHECK_THAT(at_work.error().message, Tells("orange task stop " + id.value));
    REQUIRE(house.go(house.runner().respawns.stop(id)));
    REQUIRE(house.go(update_branch(house.runner(), id, a_human())));
    CHECK(world.git.plain(tree, {"rev-parse", "HEAD"}) == base);
    CHECK(world.record(id).branch_start == base);
}

TEST_CASE("a conflict stays in the worktree, names its files, and is committed by whoever resolves it") {
    Stale task("feature");
    const auto conflict = task.refused();
    CHECK(conflict.details.at("files") == "feature");
    CHECK_THAT(conflict.message, Tells("orange task shell " + task.id.value));
    CHECK(task.world.git.plain(task.tree, {"ls-files", "-u", "--", "feature"}) != "");
    CHECK_THAT(task.refused().message, Tells("orange task shell " + task.id.value));  // not twice
    auto& house = task.world.house();
    const auto half = [&] { return house.go(half_done(house.world(), task.world.record(task.id))); };
    CHECK_THAT(half(), Tells("orange task shell " + task.id.value) && Tells("git merge --abort"));
    write_file(task.tree + "/feature", "both\n");
    task.world.git.plain(task.tree, {"commit", "-qam", "both"});
    CHECK(half().empty());
    REQUIRE(task.update());
    CHECK(task.world.git.plain(task.tree, {"log", "-1", "--format=%P"}) == task.before + " " + task.base);
}

TEST_CASE("a conflict in a file with a line break in its name is one line and one conflict") {
    Stale task("two\nlines");
    task.world.git.commit(task.tree, "two\nlines", "of the task\n");
    const auto conflict = task.world.house().go(update_branch(task.world.house().runner(), task.id, a_human()));
    REQUIRE_FALSE(conflict);
    CHECK(conflict.error().details.at("files") == R"("two\nlines")");
    CHECK_THAT(conflict.error().message, Holds(R"("two\nlines")"));
}

TEST_CASE("a branch is not updated over what is not committed, nor without its worktree", "[slow]") {
    Stale task;
    SECTION("an edit") {
        write_file(task.tree + "/feature", "edited\n");
    }
    SECTION("a staged file") {
        write_file(task.tree + "/new", "staged\n");
        task.world.git.plain(task.tree, {"add", "new"});
    }
    SECTION("an ignored file that main has by now") {
        write_file(task.world.repo() + "/.git/info/exclude", "other\nTASK.md\n");
        write_file(task.tree + "/other", "mine alone\n");
    }
    SECTION("another branch") {
        task.world.git.plain(task.tree, {"switch", "-qc", "another"});
    }
    const auto status = task.world.git.plain(task.tree, {"status", "--porcelain"});
    (void)task.refused();
    CHECK(task.world.git.plain(task.tree, {"status", "--porcelain"}) == status);
    if (std::filesystem::exists(task.tree + "/other")) CHECK(read_file(task.tree + "/other") == "mine alone\n");
}

TEST_CASE("options of the repository do not change how a branch is updated") {
    Stale task;
    const auto branch = task.world.record(task.id).task.branch;
    task.world.git.plain(task.world.repo(), {"config", "branch." + branch + ".mergeOptions", "-s ours"});
    REQUIRE(task.update());
    CHECK(task.world.git.plain(task.tree, {"show", "HEAD:other"}) == "of main");
}

TEST_CASE("a task without a worktree has nothing to update") {
    RunnerWorld world;
    const auto id = world.make_task();
    auto& house = world.house();
    const auto updated = house.go(update_branch(house.runner(), id, a_human()));
    REQUIRE_FALSE(updated);
    CHECK(updated.error().code == ErrorCode::conflict);
}
