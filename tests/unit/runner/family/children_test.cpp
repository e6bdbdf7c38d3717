#include "daemon/runner/family/family.hpp"

#include "tests/catch.hpp"
#include "tests/unit/runner/family.hpp"

/// Who may become a sub-task of whom.
using namespace orange;
using namespace orange::test;

namespace {

/// A task that is none yet, as a sub-task of that one.
Result<void> as_child_of(RunnerWorld& world, const TaskId& parent, const std::vector<TaskId>& blockers = {}) {
    auto record = blocked_draft(world, blockers);
    return adopt(world.house().world(), record, world.record(parent));
}

void permit(RunnerWorld& world, int children, int depth) {
    auto project = shop(world);
    project.settings.delegation_children = children;
    project.settings.delegation_depth = depth;
    world.house().world().projects.put(project).value();
}

std::string refusal(const Result<void>& done) {
    REQUIRE_FALSE(done);
    CHECK(done.error().code == ErrorCode::conflict);
    return done.error().message;
}

}  // namespace

TEST_CASE("A task has as many sub-tasks, and these as deep, as its project allows") {
    RunnerWorld world;
    const auto parent = world.make_task();
    permit(world, 2, 2);
    const auto first = make_child(world, parent);
    CHECK(as_child_of(world, parent));
    make_child(world, parent);
    CHECK_THAT(refusal(as_child_of(world, parent)), Tells("delegation_children=3"));
    const auto grandchild = make_child(world, first);
    CHECK_THAT(refusal(as_child_of(world, grandchild)), Tells("delegation_depth=3"));
    permit(world, 3, 3);
    CHECK(as_child_of(world, parent));
    CHECK(as_child_of(world, grandchild));
}

TEST_CASE("A task that has ended gets no sub-task, and says how many of its own are done") {
    RunnerWorld world;
    const auto parent = world.make_task("parent", 1, "relay");
    const auto done = with_work(world);
    auto record = world.record(done);
    REQUIRE(adopt(world.house().world(), record, world.record(parent)));
    world.house().world().tasks.save(record).value();
    const auto open = make_child(world, parent);
    const auto all_done = [&] {
        return engine::progress_text(children_of(world.house().world(), world.record(parent)));
    };
    CHECK(all_done().starts_with("0 of 2 "));
    merge_now(world, done);
    CHECK(all_done().starts_with("1 of 2 "));
    const auto children = children_of(world.house().world(), world.record(parent));
    CHECK(children.front().id == done);
    CHECK(children.back().id == open);
    world.move(parent, "cancelled").value();
    CHECK_THAT(refusal(as_child_of(world, parent)), Tells("cancelled"));
    CHECK(world.events(open, "task.created").front().fields.at("parent") == Scalar{parent.value});
}

TEST_CASE("A sub-task never waits for its parent, however long the way is") {
    RunnerWorld world;
    const auto parent = world.make_task("parent", 1, "relay");
    const auto after = make_blocked(world, {parent}, true), last = make_blocked(world, {after}, true);
    CHECK_THAT(refusal(as_child_of(world, parent, {parent})), Tells(parent.value));
    CHECK_THAT(refusal(as_child_of(world, parent, {last})), Tells(after.value));
    const auto child = make_child(world, parent), sibling = make_child(world, parent);
    CHECK(edit(world, child, blocking({sibling})));
    const auto cycle = edit(world, child, blocking({last}));
    REQUIRE_FALSE(cycle);
    CHECK_THAT(cycle.error().details.at("cycle"), Holds(parent.value));
    // A task may well wait for one of its own parts.
    CHECK(edit(world, parent, blocking({sibling})));
}
