// The names of the tmux windows of a task's agents.
#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

using namespace orange;
using namespace orange::test;

namespace {

std::string windows(RunnerWorld& world, const TaskId& id) {
    std::string names;
    for (const char* type : {"agent.spawned", "agent.respawned"}) {
        for (const auto& event : world.events(id, type)) {
            names += std::get<std::string>(event.fields.at("window")) + " ";
        }
    }
    return names;
}

}  // namespace

TEST_CASE("a window is named by the round that its agent works for") {
    RunnerWorld world;
    SECTION("fresh sessions for every stage") {
        const auto id = world.make_task("do it", 1, "relay");
        world.move(id, "working").value();
        for (const char* round : {"1", "2"}) {
            world.append_body(id, "\n## Handoff\nround " + std::string(round) + "\n");
            world.move(id, "agent-review").value();
            CHECK(world.outside.processes.alive.size() == 1);
            world.append_body(id, "\n## Review\nFAIL in round " + std::string(round) + "\n");
            world.move(id, round[0] == '1' ? "working" : "stuck").value();
        }
        CHECK(windows(world, id) == "worker review-1 worker-2 review-2 ");
        CHECK(world.outside.processes.alive.empty());
    }
    SECTION("one worker for all, until it has to be started again") {
        const auto id = world.make_task();
        world.move(id, "planning").value();
        world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
        world.move(id, "working").value();
        world.append_body(id, "\n## Handoff\nDONE: all\n");
        world.move(id, "agent-review").value();
        world.append_body(id, "\n## Review\nVerdict: FAIL\n");
        world.move(id, "working").value();
        CHECK(windows(world, id) == "worker review-1 ");
        world.kill_agent(id, Role::worker, 1);
        world.house().go(world.house().runner().exits.agent_exited(id, world.record(id).run_of(Role::worker)->run));
        world.house().go(world.house().runner().respawns.respawn(id, Caller{})).value();
        CHECK(windows(world, id) == "worker review-1 worker-2 ");
    }
}
