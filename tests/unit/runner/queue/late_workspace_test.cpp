// Tasks that need an agent, and have never had a workspace.
#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE("a task without a workspace takes one when a transition starts its first agent") {
    RunnerWorld world;
    const auto id = world.make_task("do it", 1, "default", "reviewing");
    CHECK_FALSE(world.record(id).task.workspace);
    world.move(id, "working").value();
    CHECK(world.record(id).task.status == "working");
    CHECK(world.record(id).task.workspace == "shop--1");
    CHECK(world.outside.tmux.windows_named("worker") == 1);
    CHECK(world.events(id, "workspace.acquired").size() == 1);
    CHECK(world.events(id, "hook.failed").empty());
}

TEST_CASE("where no workspace is free, the transition that needs one is refused, with what to do") {
    RunnerWorld world;
    const auto holder = world.make_task("holds it");
    world.move(holder, "planning").value();
    const auto id = world.make_task("do it", 1, "default", "reviewing");
    const auto state = world.state_text(id);
    const auto history = world.history_text(id);
    const auto refused = world.move(id, "working");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::pool_exhausted);
    for (const char* fact :
         {"reviewing → working", "orange workspace list", "orange project update shop --pool-size 2"}) {
        CHECK_THAT(refused.error().message, Tells(fact));
    }
    Edit edit;
    edit.branch = "another";
    engine::Request request;
    request.to = "working";
    const Caller human;
    CHECK(world.house().go(world.house().runner().requests.move(id, request, human, edit)).error().code ==
          ErrorCode::pool_exhausted);
    CHECK(world.state_text(id) == state);
    CHECK(world.history_text(id) == history);
    world.move(holder, "cancelled").value();
    CHECK(world.move(id, "working"));
}

TEST_CASE("a transition that starts nobody takes no workspace") {
    RunnerWorld world;
    const auto id = world.make_task("do it", 1, "default", "stuck");
    world.move(id, "reviewing").value();
    CHECK_FALSE(world.record(id).task.workspace);
    world.move(id, "cancelled").value();
    CHECK_FALSE(world.record(id).task.workspace);
    CHECK(world.events(id, "workspace.acquired").empty());
}
