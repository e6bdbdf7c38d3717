// Sub-tasks that are merged into the branch of their parent (the setting children_into).
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/branch/committed.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/pulls/pulls.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/family.hpp"
#include "tests/unit/runner/limits.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// The project exists with it, before the tasks.
void merge_into_parents(RunnerWorld& world, int pool_size = 1) {
    (void)world.draft("only for the project", pool_size);
    set(world, "children_into", "parent");
}

Family split_for_parent(RunnerWorld& world, std::size_t count, bool commits, int pool_size = 1) {
    merge_into_parents(world, pool_size);
    return split_into(world, count, commits, pool_size);
}

std::string status_in(RunnerWorld& world, const TaskId& id) {
    return world.record(id).task.status;
}

std::string tip_here(RunnerWorld& world, const TaskId& id) {
    return world.git.ref(world.repo(), "refs/heads/" + world.record(id).task.branch);
}

std::string main_here(RunnerWorld& world) {
    return world.git.ref(world.repo(), "refs/heads/main");
}

/// What the ref has of that task, as work_on() leaves it.
bool has_work_of(RunnerWorld& world, const std::string& ref, const TaskId& id) {
    return world.git.plain(world.repo(), {"show", ref + ":of-" + id.value}, true) == "it";
}

Result<MergeOutcome> merge_into_it(RunnerWorld& world, const TaskId& id, MergeOrder order = forced_order()) {
    return world.house().go(world.house().runner().merges.merge(id, std::move(order), a_human()));
}

Changes diff_here(RunnerWorld& world, const TaskId& id) {
    return world.house().go(changes_of(world.house().world(), world.record(id), Changes())).value();
}

/// As a list of tasks counts it.
std::int64_t listed_commits(RunnerWorld& world, const TaskId& id) {
    Committed committed(world.house().world());
    world.house().go(committed.refresh("shop", {id})).value();
    return committed.of(id) ? committed.of(id)->changes.commits : -1;
}

}  // namespace

TEST_CASE("Sub-tasks are merged into their parent's branch, and only its merge brings them into the default branch",
          "[slow]") {
    RunnerWorld world;
    using enum git::MergeStrategy;
    // Each pair of values occurs together.
    const auto [strategy, commits, origin] = GENERATE(table<git::MergeStrategy, bool, bool>({{merge, true, true},
                                                                                             {merge, false, false},
                                                                                             {squash, true, false},
                                                                                             {squash, false, true},
                                                                                             {ff, true, true},
                                                                                             {ff, false, false}}));
    if (origin) world.git.make_origin(world.repo(), "live/origin.git");
    const auto family = split_for_parent(world, 2, commits);
    const auto branch = world.record(family.parent).task.branch;
    const auto main = main_here(world);
    for (const auto& id : family.children) {
        REQUIRE(status_in(world, id) == "working");
        finish_child(world, id, strategy);
        REQUIRE(status_in(world, id) == "done");
        CHECK(main_here(world) == main);
        CHECK(world.git.ref(world.repo(), "refs/remotes/origin/" + branch).empty());
        CHECK(world.record(id).merge->target == branch);
        const auto told = world.events(id, "task.merged");
        REQUIRE(told.size() == 1);
        CHECK(told[0].fields.at("pushed") == Scalar{false});
    }
    REQUIRE(status_in(world, family.parent) == "working");
    const auto& record = world.record(family.parent);
    REQUIRE(record.runs.size() == 1);
    CHECK(record.runs[0].prompt == "integrate");
    for (const auto& id : family.children) {
        CHECK(std::filesystem::exists(worktree_of(world, family.parent) / ("of-" + id.value)));
    }
    const auto merged = merge_into_it(world, family.parent).value();
    CHECK(merged.pushed == origin);
    CHECK(status_in(world, family.parent) == "done");
    for (const auto& id : family.children) CHECK(has_work_of(world, origin ? "origin/main" : "main", id));
    CHECK(has_work_of(world, "main", family.parent) == commits);
}

TEST_CASE("The parent's branch is where its sub-tasks go, whatever it is called by now and wherever origin has it") {
    RunnerWorld world;
    const auto origin = world.git.make_origin(world.repo(), "live/origin.git");
    const auto family = split_for_parent(world, 2, true);
    const auto before = world.record(family.parent).task.branch;
    world.git.plain(world.repo(), {"push", "-q", "origin", before});
    const auto pushed = world.git.ref(origin, "refs/heads/" + before);
    finish_child(world, family.children[0]);
    Edit rename;
    rename.branch = "renamed";
    edit(world, family.parent, rename).value();
    finish_child(world, family.children[1]);
    for (const auto& id : family.children) CHECK(has_work_of(world, "renamed", id));
    CHECK(world.git.ref(world.repo(), "refs/heads/" + before).empty());
    CHECK(world.git.ref(origin, "refs/heads/" + before) == pushed);
    CHECK(world.git.ref(origin, "refs/heads/renamed").empty());
    CHECK(status_in(world, family.parent) == "working");
}

TEST_CASE("A sub-task is compared with its parent's branch, and gets what that has") {
    RunnerWorld world;
    const auto family = split_for_parent(world, 2, true, 2);
    const auto &first = family.children[0], &second = family.children[1];
    // The default branch goes on, and is no matter of theirs.
    world.git.commit(world.repo(), "of-main", "more\n");
    for (const auto& id : family.children) work_on(world, id);
    for (const auto& id : family.children) {
        CHECK(diff_here(world, id).commits == 1);
        CHECK(diff_here(world, id).files == 1);
        CHECK(listed_commits(world, id) == 1);
    }
    merge_now(world, first);
    CHECK(listed_commits(world, second) == 1);
    auto& house = world.house();
    house.go(house.runner().respawns.stop(second)).value();
    house.go(update_branch(house.runner(), second, a_human())).value();
    CHECK(std::filesystem::exists(worktree_of(world, second) / ("of-" + first.value)));
    CHECK_FALSE(std::filesystem::exists(worktree_of(world, second) / "of-main"));
    CHECK(diff_here(world, second).files == 1);
    const auto told = world.events(second, "branch.updated");
    REQUIRE(told.size() == 1);
    CHECK(told[0].fields.at("base") == Scalar{world.record(family.parent).task.branch});
}

TEST_CASE("A sub-task that waited for its sibling begins with it, and without what the default branch has since") {
    RunnerWorld world;
    const auto family = split_for_parent(world, 1, true);
    const auto& first = family.children[0];
    const auto later = create_child(world, child_draft(world, family.parent, {first}));
    world.git.commit(world.repo(), "of-main", "more\n");
    finish_child(world, first);
    REQUIRE(status_in(world, later) == "working");
    const auto tree = worktree_of(world, later);
    CHECK(std::filesystem::exists(tree / ("of-" + first.value)));
    CHECK(std::filesystem::exists(tree / ("of-" + family.parent.value)));
    CHECK_FALSE(std::filesystem::exists(tree / "of-main"));
    CHECK(diff_here(world, later).commits == 0);
    CHECK_FALSE(world.record(later).task.base);
}

TEST_CASE("A sub-task that waited for a task outside of the family gets the default branch, which has that") {
    RunnerWorld world;
    merge_into_parents(world, 3);
    const auto outside = world.make_task("something else", 3, "relay");
    world.move(outside, "working").value();
    const auto family = split_into(world, 1, true, 3);
    const auto later = create_child(world, child_draft(world, family.parent, {outside}));
    finish_child(world, outside);
    REQUIRE(status_in(world, later) == "working");
    const auto tree = worktree_of(world, later);
    CHECK(std::filesystem::exists(tree / ("of-" + outside.value)));
    CHECK(std::filesystem::exists(tree / ("of-" + family.parent.value)));
}

TEST_CASE("Nothing is merged into a branch that somebody works on") {
    RunnerWorld world;
    const auto family = split_for_parent(world, 1, true, 2);
    const auto& child = family.children[0];
    work_on(world, child);
    world.move(family.parent, "working").value();
    const auto before = tip_here(world, family.parent);
    const auto refused = merge_into_it(world, child);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells(family.parent.value) && Tells("delegated"));
    CHECK(tip_here(world, family.parent) == before);
    CHECK(status_in(world, child) == "working");
    CHECK_FALSE(world.record(child).merge);
    world.move(family.parent, "delegated").value();
    merge_into_it(world, child).value();
    CHECK(has_work_of(world, world.record(family.parent).task.branch, child));
}

TEST_CASE("Nothing is merged into the branch of a parent that has not begun") {
    RunnerWorld world;
    merge_into_parents(world, 2);
    const auto parent = world.make_task("the whole", 2, "relay");
    const auto child = make_child(world, parent, false);
    REQUIRE(status_in(world, child) == "working");
    work_on(world, child);
    CHECK(diff_here(world, child).commits == 1);
    const auto refused = merge_into_it(world, child);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells("orange task spawn " + parent.value));
    CHECK(status_in(world, child) == "working");
}

TEST_CASE("A sub-task whose parent has ended goes into the default branch, when its human says so") {
    RunnerWorld world;
    const auto family = split_for_parent(world, 1, true, 2);
    const auto& child = family.children[0];
    work_on(world, child);
    world.append_body(child, "\n## Handoff\nall of it\n");
    world.move(child, "agent-review").value();
    world.append_body(child, "\n## Review\nPASS\n");
    world.move(child, "reviewing").value();
    const auto parents = tip_here(world, family.parent);
    bool is_merged = false;
    SECTION("cancelled") {
        world.move(family.parent, "working").value();
        world.move(family.parent, "cancelled").value();
    }
    SECTION("deleted") {
        world.move(family.parent, "working").value();
        world.move(family.parent, "cancelled").value();
        world.house().go(world.house().runner().requests.remove(family.parent, a_human())).value();
    }
    SECTION("merged without it") {
        merge_into_it(world, family.parent).value();
        is_merged = true;
    }
    const auto main = main_here(world);
    CHECK(diff_here(world, child).commits == (is_merged ? 1 : 2));
    const auto asked = merge_into_it(world, child, MergeOrder{});
    REQUIRE_FALSE(asked);
    CHECK(asked.error().code == ErrorCode::needs_force);
    CHECK_THAT(asked.error().message, Tells(family.parent.value) && Tells("main"));
    CHECK(main_here(world) == main);
    merge_into_it(world, child).value();
    CHECK(world.record(child).merge->target == "main");
    CHECK(has_work_of(world, "main", child));
    CHECK(has_work_of(world, "main", family.parent));
    CHECK_FALSE(world.events(child, "task.merged").at(0).fields.at("forced") == Scalar{std::string()});
    CHECK_FALSE(has_work_of(world, parents, child));
}

TEST_CASE("There is no pull request for a sub-task that is merged into its parent's branch") {
    RunnerWorld world;
    const auto origin = world.git.make_origin(world.repo(), "live/origin.git");
    const auto family = split_for_parent(world, 1, false);
    const auto& child = family.children[0];
    work_on(world, child);
    const auto command = "orange task merge " + child.value;
    auto order = forced_order();
    order.via_pull = true;
    const auto merged = merge_into_it(world, child, order);
    REQUIRE_FALSE(merged);
    CHECK(merged.error().code == ErrorCode::conflict);
    CHECK_THAT(merged.error().message, Tells(command));
    pulls::PullText text;
    const auto opened =
        world.house().go(create_pull_request(world.house().runner(), child, std::move(text), a_human()));
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::conflict);
    CHECK_THAT(opened.error().message, Tells(command));
    CHECK(world.git.ref(origin, "refs/heads/" + world.record(child).task.branch).empty());
    // Neither does a project that merges through pull requests ask for one.
    set(world, "merge", "pr");
    order.via_pull = false;
    order.push = true;
    const auto local = merge_into_it(world, child, order).value();
    CHECK_FALSE(local.pushed);
    CHECK(world.git.ref(origin, "refs/heads/" + world.record(family.parent).task.branch).empty());
}

TEST_CASE("Sub-tasks of sub-tasks come together level by level") {
    RunnerWorld world;
    const auto family = split_for_parent(world, 1, false, 2);
    const auto& middle = family.children[0];
    work_on(world, middle);
    const auto below = make_child(world, middle, false);
    world.append_body(middle, "\n## Subtasks\n- " + below.value + "\n");
    world.move(middle, "delegated").value();
    finish_child(world, below);
    CHECK(has_work_of(world, world.record(middle).task.branch, below));
    CHECK_FALSE(has_work_of(world, world.record(family.parent).task.branch, below));
    REQUIRE(status_in(world, middle) == "working");
    CHECK(diff_here(world, middle).files == 2);
    merge_now(world, middle);
    CHECK(has_work_of(world, world.record(family.parent).task.branch, below));
    CHECK(has_work_of(world, world.record(family.parent).task.branch, middle));
    CHECK_FALSE(has_work_of(world, "main", below));
    REQUIRE(status_in(world, family.parent) == "working");
    merge_now(world, family.parent);
    CHECK(has_work_of(world, "main", below));
}

TEST_CASE("The setting counts when a sub-task is created, for a parent that waits for its sub-tasks") {
    RunnerWorld world;
    const auto before = split_into(world, 1, false, 4);
    set(world, "children_into", "parent");
    const auto after = make_child(world, before.parent);
    const auto alone = world.make_task("the whole", 4, "minimal");
    const auto of_alone = make_child(world, alone);
    set(world, "children_into", "default");
    CHECK_FALSE(world.record(before.children[0]).into_parent);
    CHECK(world.record(after).into_parent);
    CHECK_FALSE(world.record(of_alone).into_parent);
    const auto main = main_here(world);
    finish_child(world, before.children[0]);
    CHECK(main_here(world) != main);
    const auto& inner = world.house().world();
    CHECK(parents_branch(inner, world.record(after)) == world.record(before.parent).task.branch);
    CHECK(parents_branch(inner, world.record(before.children[0])).empty());
}

TEST_CASE("A merge into the parent's branch that a daemon did not finish is finished or undone by the next one",
          "[slow]") {
    RunnerWorld world;
    const auto family = split_for_parent(world, 1, true);
    const auto child = family.children[0];
    work_on(world, child);
    const auto branch = world.record(family.parent).task.branch, main = main_here(world);
    world.keep();
    int steps = 0;
    for (bool died = true; died; ++steps) {
        REQUIRE(steps < 200);
        world.back();
        world.outside.fuse.arm(fakes::Fuse::Ending::killed, steps + 1);
        try {
            (void)merge_into_it(world, child);
            died = false;
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        world.recover();
        INFO("step " << steps << ", " << world.state_text(child));
        const bool done = status_in(world, child) == "done";
        CHECK(has_work_of(world, branch, child) == done);
        CHECK(world.events(child, "task.merged").size() == (done ? 1 : 0));
        if (!done) merge_into_it(world, child).value();
        CHECK(world.git.plain(world.repo(), {"rev-list", "--count", "--merges", branch}) == "1");
        CHECK(main_here(world) == main);
        CHECK(status_in(world, family.parent) == "working");
    }
    CHECK(steps > 10);
}
