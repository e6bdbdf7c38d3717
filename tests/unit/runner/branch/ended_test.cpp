// The end of a task: terminal states of other names, and work, branches or commits that are missing at the end.
#include <fstream>

#include "daemon/runner/branch/branch.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/changes.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE("a terminal state of a workflow's own ends a task as done and cancelled do") {
    RunnerWorld world;
    write_file(world.home() / "workflows/shelf.yml",
               "name: shelf\nversion: 1\n"
               "states: {pending: {}, working: {}, shelved: {terminal: true}}\n"
               "transitions:\n"
               "  - {from: pending, to: working, hooks: [{action: acquire_workspace}]}\n"
               "  - {from: working, to: shelved, hooks: [{action: release_workspace}]}\n");
    const auto id = world.make_task("do it", 1, "shelf");
    const auto branch = world.record(id).task.branch;
    const auto is_active = [&] {
        const auto& tasks = world.house().world().tasks;
        return tasks.active().contains(id) && tasks.on_branch("shop", branch).has_value();
    };
    world.move(id, "working").value();
    CHECK(is_active());
    CHECK_FALSE(world.record(id).ended);
    world.move(id, "shelved").value();
    CHECK(world.record(id).ended);
    CHECK_FALSE(is_active());
    world.boot();
    world.recover();
    CHECK(world.record(id).ended);
    CHECK_FALSE(is_active());
}

TEST_CASE("a history that is larger than anything that is read keeps no task from moving", "[slow]") {
    RunnerWorld world;
    const auto id = world.make_task("do it");
    const auto file = world.house().world().tasks.folder(world.record(id)) / "history.jsonl";
    std::filesystem::resize_file(file, std::uintmax_t{300} << 20);
    std::ofstream(file, std::ios::app) << "\n";
    world.boot();
    world.recover();
    world.move(id, "planning").value();
    CHECK(world.record(id).task.status == "planning");
    CHECK_FALSE(world.record(id).intent);
    world.move(id, "cancelled").value();
    CHECK_FALSE(world.record(id).intent);
    const auto last = world.house().world().tasks.history(id, 1).value();
    CHECK(last.at(0).type == "task.cancelled");
}

TEST_CASE("work is merged although the folder that it was done in is gone, and that is said") {
    RunnerWorld world;
    const auto id = ready_to_merge(world);
    Edit nameless;
    nameless.summary = "";
    world.house().go(world.house().runner().requests.edit(id, nameless, a_human())).value();
    std::filesystem::remove_all(world.house().world().pool.path_of("shop--1"));
    const auto merged = world.house().go(world.house().runner().merges.merge(id, MergeOrder{}, a_human()));
    REQUIRE(merged);
    CHECK_FALSE(merged->notes.empty());
    CHECK(world.record(id).task.status == "done");
    CHECK(world.git.plain(world.repo(), {"show", "main:feature"}) == "it");
    CHECK_THAT(world.git.plain(world.repo(), {"log", "-1", "--format=%B", "main"}), !Holds("\n\n\n"));
}

TEST_CASE("a review that was given no commit says nothing of any") {
    RunnerWorld world;
    const auto id = with_work(world);
    const auto tree = world.house().world().pool.path_of("shop--1");
    const auto branch = world.record(id).task.branch;
    world.append_body(id, "\n## Handoff\nall of it\n");
    world.git.plain(tree, {"checkout", "-q", "--orphan", "nothing-yet"});
    world.move(id, "agent-review").value();
    CHECK(world.record(id).reviewed_commit == "none");
    world.git.plain(tree, {"symbolic-ref", "HEAD", "refs/heads/" + branch});
    world.append_body(id, "\n## Review\nPASS\n");
    world.move(id, "reviewing").value();
    auto& runner = world.house().runner();
    const auto refused = world.house().go(runner.merges.merge(id, MergeOrder{}, a_human()));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::needs_force);
    const auto tip = world.git.ref(world.repo(), "refs/heads/" + branch);
    CHECK_THAT(refused.error().message, Tells(tip.substr(0, 12)));
    CHECK_THAT(refused.error().message, Tells("orange task diff " + id.value));
    CHECK(world.house().go(runner.merges.merge(id, forced_order(), a_human())));
}

TEST_CASE("a branch that is gone cannot be merged, and its task stays where it is") {
    RunnerWorld world;
    const auto id = ready_to_merge(world);
    world.git.plain(world.house().world().pool.path_of("shop--1"), {"switch", "-q", "--detach"});
    world.git.plain(world.repo(), {"branch", "-qD", world.record(id).task.branch});
    const auto refused = world.house().go(world.house().runner().merges.merge(id, MergeOrder{}, a_human()));
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Tells(world.record(id).task.branch));
    CHECK(world.record(id).task.status == "reviewing");
}

TEST_CASE("where it cannot be told what a reviewer is given, nothing counts as seen") {
    RunnerWorld world;
    const auto id = with_work(world);
    world.append_body(id, "\n## Handoff\nall of it\n");
    const auto head = Path(world.repo()) / ".git/worktrees/shop--1/HEAD";
    const auto text = read_file(head);
    write_file(head, "nonsense\n");
    world.move(id, "agent-review").value();
    CHECK(world.record(id).reviewed_commit == "none");
    write_file(head, text);
    REQUIRE(world.house().go(world.house().runner().respawns.respawn(id, a_human())));
    world.append_body(id, "\n## Review\nPASS\n");
    world.move(id, "reviewing").value();
    const auto merged = world.house().go(world.house().runner().merges.merge(id, MergeOrder{}, a_human()));
    REQUIRE_FALSE(merged);
    CHECK(merged.error().code == ErrorCode::needs_force);
}

TEST_CASE("ignored files of a cancelled task are named, and those that keep_ignored names are kept and restored") {
    RunnerWorld world;
    write_file(world.repo() + "/.git/info/exclude", "*.env\n/cache/\nTASK.md\n");
    const auto id = world.make_task("do it");
    auto project = shop(world);
    project.settings.keep_ignored = {{"*.env"}};
    world.house().world().projects.put(project).value();
    world.move(id, "planning").value();
    const auto tree = world.house().world().pool.path_of("shop--1");
    write_file(tree / "local.env", "KEY=1\n");
    write_file(tree / "cache/x", "made\n");
    const auto notes = join(world.move(id, "cancelled").value().notes, "\n");
    CHECK_THAT(notes, Holds("local.env") && Holds("cache/") && Tells("shop--1"));
    auto& runner = world.house().world();
    CHECK_THAT(join(world.house().go(kept_work(runner, world.record(id))), "\n"),
               Tells("refs/orange/" + id.value + "/ignored"));
    const auto folder = runner.tasks.folder(world.record(id)) / "ignored";
    for (int times = 0; times < 2; ++times) {
        const auto restored = world.house().go(restore_work(runner, world.record(id), "")).value();
        CHECK_THAT(join(restored.notes, "\n"), Tells(folder.string()));
        CHECK(read_file(folder / "local.env") == "KEY=1\n");
    }
    CHECK_FALSE(std::filesystem::exists(folder / "cache"));
    CHECK(world.git.plain(world.repo(), {"ls-tree", "-r", "--name-only", world.record(id).task.branch + "-restored"})
              .find("local.env") == std::string::npos);
}
