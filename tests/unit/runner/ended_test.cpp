#include <fstream>

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

TEST_CASE("a history that is larger than anything that is read keeps no task from moving") {
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
