#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

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
