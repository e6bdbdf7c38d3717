// The wall clock is set, or the machine sleeps. The order of events and all counts stay right.
#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

std::vector<std::string> states(RunnerWorld& world, const TaskId& id) {
    std::vector<std::string> chain;
    for (const auto& event : world.events(id, "status.changed")) {
        chain.push_back(std::get<std::string>(event.fields.at("from")) + ">" +
                        std::get<std::string>(event.fields.at("to")));
    }
    return chain;
}

}  // namespace

TEST_CASE("a history is in the order in which it happened, whatever the clock is set to in between") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    for (const auto jump : {-24h, 24h * 3650, -24h * 7300}) {
        world.outside.clock.pass(jump);
        world.move(id, "working").value();
        world.move(id, "clarification").value();
    }
    const std::vector<std::string> expected = {
        "pending>planning",      "planning>working",      "working>clarification", "clarification>working",
        "working>clarification", "clarification>working", "working>clarification"};
    CHECK(states(world, id) == expected);
    world.boot();
    world.recover();
    CHECK(states(world, id) == expected);
    CHECK(world.record(id).task.status == "clarification");
}

TEST_CASE("ten hours of sleep and a clock that is set are no death of an agent and no crash of a task") {
    for (const auto jump : {10h, -24h, 24h * 3650}) {
        RunnerWorld world;
        const auto one = planning(world, "one", 3);
        const auto two = planning(world, "two", 3);
        const auto runs = world.record(one).runs;
        world.outside.clock.pass(jump);
        world.recover();
        world.boot();
        world.recover();
        CHECK(world.record(one).runs == runs);
        for (const auto& id : {one, two}) {
            CHECK(world.record(id).task.crash_count() == 0);
            CHECK(world.events(id, "agent.crashed").empty());
            CHECK(world.events(id, "agent.exited").empty());
            CHECK(world.events(id, "agent.respawned").empty());
        }
        // A real death counts once, as ever.
        world.kill_agent(one, Role::worker, 1);
        world.recover();
        world.recover();
        CHECK(world.record(one).task.crash_count() == 1);
        CHECK(world.record(two).task.crash_count() == 0);
    }
}

TEST_CASE("who waits for a workspace keeps his place when the clock is set back") {
    RunnerWorld world;
    const auto first = world.make_task("first", 1);
    world.move(first, "planning").value();
    const auto spawn = [&](const TaskId& id) {
        Caller human;
        world.house().go(world.house().runner().queue.spawn(id, human)).value();
    };
    const auto early = world.make_task("early", 1);
    spawn(early);
    world.outside.clock.pass(-24h);
    const auto late = world.make_task("late", 1);
    spawn(late);
    world.boot();
    world.outside.clock.pass(-24h);
    const auto last = world.make_task("last", 1);
    spawn(last);
    CHECK(world.house().world().tasks.queue("shop") == std::vector<TaskId>{early, late, last});
}

TEST_CASE("a message is typed although its agent was started in what is the future now") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    world.outside.clock.pass(-24h);
    world.house().go(world.house().runner().outbox.send(id, Role::worker, "hello")).value();
    CHECK(orange::test::deliver(world, id));
    CHECK(world.record(id).outbox.empty());
}

TEST_CASE("a message that waits while the clock is set, or the machine sleeps, is not one that cannot be delivered") {
    RunnerWorld world;
    const auto id = planning(world, "do it", 3);
    const auto deliver = [&] {
        world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 2);  // the screen, then the keys
        CHECK_FALSE(orange::test::deliver(world, id));
        REQUIRE(world.outside.tmux_faults.struck);
        world.outside.tmux_faults.disarm();
    };
    world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 2);
    world.house().go(world.house().runner().outbox.send(id, Role::worker, "hello")).value();
    for (const auto jump : {10h, 24h * 3650}) {
        world.outside.clock.pass(jump);
        deliver();
        CHECK_FALSE(world.record(id).task.attention);
    }
    world.boot();  // and for a daemon that begins then
    deliver();
    CHECK_FALSE(world.record(id).task.attention);
    CHECK(world.record(id).outbox.size() == 1);
    CHECK(orange::test::deliver(world, id));
}

TEST_CASE("a time that was noted by a clock that was ahead counts as now, and what has passed stays as it is") {
    RunnerWorld world;
    const auto early = planning(world, "early", 3);
    world.outside.clock.pass(24h * 366);
    const auto late = planning(world, "late", 3);
    auto record = world.record(late);
    record.reminder = Reminder{"do it", record.entered_at.value(), 1, world.outside.clock.now()};
    auto& tasks = world.house().world().tasks;
    tasks.save(record).value();
    world.outside.clock.pass(-24h * 366 + 1h);
    const auto now = world.outside.clock.now();
    const auto before = world.record(early);
    tasks.end_times_at(now);
    CHECK(world.record(early) == before);
    const auto ended = world.record(late);
    CHECK(ended.task.created_at == now);
    CHECK(ended.entered_at == now);
    CHECK(ended.reminder->entered == now);
    CHECK(ended.reminder->at == now);
    CHECK(ended.runs.at(0).spawned_at == now);
    CHECK(ended.runs.at(0).run == record.runs.at(0).run);
    CHECK(world.house().world().tasks.active().size() == 2);
}
