#include <functional>

#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

/// A daemon that ends at every step of every kind of transition, and the next one over the same files: what is begun is
/// finished, once. Steps are everything that leaves a trace: a file written or removed, a tmux command.
using namespace orange;
using namespace orange::test;
using fakes::Fuse;

namespace {

struct Scenario {
    std::function<TaskId(RunnerWorld&)> arrange;
    std::function<void(RunnerWorld&, const TaskId&)> act;
    std::string from;
    std::string to;
    std::map<std::string, std::size_t> windows;  ///< opened on the whole way, where the transition took place
    std::size_t told = 0;                        ///< messages for the worker
    std::size_t workspace_events = 0;            ///< workspace.released
};

TaskId planned(RunnerWorld& world) {
    const auto id = world.make_task();
    world.move(id, "planning").value();
    return id;
}

TaskId worked(RunnerWorld& world) {
    const auto id = planned(world);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    return id;
}

TaskId reviewed(RunnerWorld& world, const std::string& verdict) {
    const auto id = worked(world);
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nVerdict: " + verdict + "\n");
    return id;
}

std::function<void(RunnerWorld&, const TaskId&)> moving(const std::string& to) {
    return [to](RunnerWorld& world, const TaskId& id) { (void)world.move(id, to); };
}

std::function<void(RunnerWorld&, const TaskId&)> seeing_the_end_of(Role role) {
    return [role](RunnerWorld& world, const TaskId& id) {
        const auto* run = world.record(id).run_of(role);
        if (run) world.house().go(world.house().runner().agent_exited(id, RunId{run->run}));
    };
}

std::size_t messages_for_worker(RunnerWorld& world, const TaskId& id) {
    return world.record(id).outbox.size();
}

void check(RunnerWorld& world, const TaskId& id, const Scenario& scenario, std::size_t changes_before,
           Fuse::Ending ending) {
    const auto& record = world.record(id);
    const bool moved = record.task.status == scenario.to;
    CHECK((moved || record.task.status == scenario.from));
    CHECK_FALSE(record.intent);
    const auto changes = world.events(id, "status.changed");
    CHECK(changes.size() == changes_before + (moved ? 1 : 0));
    if (moved && !changes.empty()) CHECK(changes.back().fields.at("to") == Scalar{scenario.to});
    for (const auto& [window, count] : scenario.windows) {
        INFO(window);
        if (moved) CHECK(world.outside.tmux.windows_named(window) == count);
        CHECK(world.outside.tmux.windows_named(window) <= count);
        std::size_t spawned = 0;
        for (const auto& event : world.events(id, "agent.spawned"))
            spawned += event.fields.at("window") == Scalar{window};
        // What the disk has no room for is not in history; a killed daemon's successor makes up for it.
        CHECK(spawned <= world.outside.tmux.windows_named(window));
        if (ending == Fuse::Ending::killed && moved) CHECK(spawned == count);
    }
    // A hook that fails is not tried again: it is told instead.
    const bool whole = ending != Fuse::Ending::disk_full_once || !record.task.attention;
    const auto told = messages_for_worker(world, id);
    const auto released = world.events(id, "workspace.released").size();
    CHECK(told <= scenario.told);
    CHECK(released <= scenario.workspace_events);
    if (moved && whole) CHECK(told == scenario.told);
    if (moved && whole) CHECK(released == scenario.workspace_events);
    CHECK(world.events(id, "notification").size() <= 1);
    // Every living process is one that the task knows of.
    for (const auto& [pid, process] : world.outside.processes.alive) {
        bool known = false;
        for (const auto& run : record.runs) known = known || run.pid == pid;
        CHECK(known);
    }
}

void end_everywhere(const Scenario& scenario, Fuse::Ending ending) {
    RunnerWorld world;
    const auto id = scenario.arrange(world);
    const auto before = world.events(id, "status.changed").size();
    world.keep();

    world.outside.fuse.arm(Fuse::Ending::none, 0);
    scenario.act(world, id);
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 3);
    REQUIRE(world.record(id).task.status == scenario.to);
    check(world, id, scenario, before, ending);

    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.back();
        world.outside.fuse.arm(ending, n);
        try {
            scenario.act(world, id);
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        world.boot();
        world.recover();
        check(world, id, scenario, before, ending);
        if (world.record(id).task.status == scenario.to) continue;
        // Nothing of the attempt is in the way of the next one.
        scenario.act(world, id);
        CHECK(world.record(id).task.status == scenario.to);
        check(world, id, scenario, before, ending);
    }
}

void end_in_every_way(const Scenario& scenario) {
    for (const auto ending : {Fuse::Ending::killed, Fuse::Ending::disk_full_for_good, Fuse::Ending::disk_full_once}) {
        INFO("ending " << static_cast<int>(ending));
        end_everywhere(scenario, ending);
    }
}

}  // namespace

TEST_CASE("a start that was cut off anywhere is finished once") {
    end_in_every_way({[](RunnerWorld& world) { return world.make_task(); },
                      moving("planning"),
                      "pending",
                      "planning",
                      {{"worker", 1}}});
}

TEST_CASE("a transition without hooks that was cut off anywhere is finished once") {
    end_in_every_way({[](RunnerWorld& world) {
                          const auto id = planned(world);
                          world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
                          return id;
                      },
                      moving("working"),
                      "planning",
                      "working",
                      {{"worker", 1}}});
}

TEST_CASE("the start of a review that was cut off anywhere is finished once") {
    end_in_every_way({worked, moving("agent-review"), "working", "agent-review", {{"worker", 1}, {"review-1", 1}}});
}

TEST_CASE("a verdict that was cut off anywhere is acted on once") {
    SECTION("passed") {
        end_in_every_way({[](RunnerWorld& world) { return reviewed(world, "PASS"); },
                          moving("reviewing"),
                          "agent-review",
                          "reviewing",
                          {{"worker", 1}, {"review-1", 1}},
                          1});
    }
    SECTION("failed") {
        end_in_every_way({[](RunnerWorld& world) { return reviewed(world, "FAIL"); },
                          moving("working"),
                          "agent-review",
                          "working",
                          {{"worker", 1}, {"review-1", 1}},
                          1});
    }
}

TEST_CASE("instructions for a worker that lives are given once") {
    end_in_every_way({worked, moving("stuck"), "working", "stuck", {{"worker", 1}}, 1});
}

TEST_CASE("a cancellation that was cut off anywhere is finished once") {
    end_in_every_way({[](RunnerWorld& world) { return reviewed(world, "PASS"); },
                      moving("cancelled"),
                      "agent-review",
                      "cancelled",
                      {{"worker", 1}, {"review-1", 1}},
                      0,
                      1});
}

TEST_CASE("an agent's end that was dealt with up to anywhere moves its task once") {
    end_in_every_way({[](RunnerWorld& world) {
                          const auto id = worked(world);
                          world.kill_agent(id, Role::worker, 0);
                          return id;
                      },
                      seeing_the_end_of(Role::worker),
                      "working",
                      "agent-review",
                      {{"worker", 1}, {"review-1", 1}}});
}
