#include "daemon/async/async.hpp"
#include "daemon/runner/agents/outbox.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/dying_agents.hpp"

/// Dead agents that are started again, by Orange or by a human.
using namespace orange;
using namespace orange::test;

TEST_CASE("an agent is not started twice, nor for a state that has none") {
    RunnerWorld world;
    const auto id = world.make_task();
    const auto early = respawn(world, id);
    REQUIRE_FALSE(early);
    CHECK_THAT(early.error().message, Tells("orange task spawn"));
    world.move(id, "planning").value();
    const auto twice = respawn(world, id);
    REQUIRE_FALSE(twice);
    CHECK(twice.error().code == ErrorCode::conflict);
    CHECK_THAT(twice.error().message, Tells("orange task attach " + id.value));
    const auto spawned = world.house().go(world.house().runner().queue.spawn(id, Caller{}));
    REQUIRE_FALSE(spawned);
    CHECK(spawned.error().code == ErrorCode::illegal_transition);
    CHECK_THAT(spawned.error().message, Tells("planning") && Tells("orange task respawn"));
    CHECK(world.outside.processes.alive.size() == 1);
}

TEST_CASE("a respawn that comes after the daemon's own is no error") {
    RunnerWorld world;
    const auto id = under_review(world);
    world.kill_agent(id, Role::reviewer, 1);
    const auto run = world.record(id).run_of(Role::reviewer)->run;
    std::optional<Result<Outcome>> asked;
    std::optional<bool> noticed;
    auto& house = world.house();
    const auto notice_it = [&]() -> Awaitable<bool> {
        co_await house.runner().exits.agent_exited(id, run);
        co_return true;
    };
    house.begin(notice_it(), noticed);
    house.begin(house.runner().respawns.respawn(id, Caller{}), asked);
    house.go([&]() -> Awaitable<void> {
        while (!asked) co_await async::sleep(std::chrono::milliseconds(5));
    }());
    REQUIRE(*asked);
    CHECK(world.record(id).run_of(Role::reviewer));
    CHECK(world.events(id, "agent.respawned").size() == 1);
    const auto later = respawn(world, id);
    REQUIRE_FALSE(later);
    CHECK(later.error().code == ErrorCode::conflict);
}

TEST_CASE("a task without a workspace is respawned in one that it takes, if one is free") {
    RunnerWorld world;
    auto record = world.draft();
    record.task.status = "working";  // as one that was imported
    record.task.workspace.reset();
    record.imported = true;
    const auto id = record.task.id;
    world.house().world().tasks.create(record, "## Plan\nAPPROACH: straight on\n").value();
    SECTION("one is free") {
        REQUIRE(respawn(world, id));
        CHECK(world.record(id).task.workspace == "shop--1");
        CHECK(world.house().control().alive(world.record(id), Role::worker));
        CHECK(world.events(id, "workspace.acquired").size() == 1);
        CHECK_THAT(read_file(world.house().world().pool.path_of("shop--1") / "TASK.md"),
                   Holds("APPROACH: straight on"));
    }
    SECTION("none is free") {
        const auto other = planning(world, "other", 1);
        const auto full = respawn(world, id);
        REQUIRE_FALSE(full);
        CHECK(full.error().code == ErrorCode::pool_exhausted);
        CHECK_THAT(full.error().message, Tells("--pool-size"));
        CHECK_FALSE(world.record(id).task.workspace);
    }
}

TEST_CASE("an agent that was to be ended, and was not, is ended before another of its role is started") {
    RunnerWorld world;
    const auto id = planning(world);
    world.outside.tmux.kill_fails = Error(ErrorCode::timeout, "tmux does not answer");
    world.outside.tmux.kill_ends_processes = false;
    const auto old = *world.record(id).run_of(Role::worker);
    const auto cancelled = world.move(id, "cancelled");
    REQUIRE(cancelled);
    CHECK_THAT(attention(world, id), Holds("tmux does not answer"));
    REQUIRE(world.record(id).run_of(Role::worker));
    CHECK(world.record(id).run_of(Role::worker)->ending);
    world.outside.tmux.kill_fails.reset();
    world.outside.tmux.kill_ends_processes = true;
    const auto project = *world.house().world().projects.find("shop");
    const auto freed = world.house().go(world.house().runner().workspaces.collect(project));
    REQUIRE(freed);
    REQUIRE(freed->size() == 1);
    CHECK_THAT(freed->front(), Tells("shop--1") && Tells(id.value));
    CHECK(world.outside.processes.alive.empty());
    CHECK(world.record(id).runs.empty());
    CHECK(attention(world, id) == "none");
}

TEST_CASE("an agent that is being ended is ended for good before another of its role is started") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto old = world.record(id).run_of(Role::worker)->pid;
    set(world, id, [](TaskRecord& record) { record.run_of(Role::worker)->ending = true; });
    SECTION("it is") {
        REQUIRE(respawn(world, id));
        CHECK_FALSE(world.outside.processes.alive.contains(old));
        CHECK(world.outside.processes.alive.size() == 1);
    }
    SECTION("it cannot be") {
        world.outside.tmux.kill_fails = Error(ErrorCode::timeout, "tmux does not answer");
        CHECK(respawn(world, id).error().code == ErrorCode::timeout);
        CHECK(world.outside.processes.alive.size() == 1);
        CHECK(world.record(id).runs.size() == 1);
    }
}

TEST_CASE("what Orange had to say to an agent ends with it, and a human's words wait for the next one") {
    RunnerWorld world;
    const auto id = planning(world);
    auto record = world.record(id);
    auto& control = world.house().control();
    for (const Role from : {Role::system, Role::human}) {
        REQUIRE(queue_message(world.house().world(), world.house().runner().turns, record, Role::worker, from,
                              "to the worker"));
        REQUIRE(queue_message(world.house().world(), world.house().runner().turns, record, Role::reviewer, from,
                              "to the reviewer"));
    }
    REQUIRE(world.house().go(control.end(record, Role::worker)));
    std::string left;
    for (const auto& message : world.record(id).outbox) left += message.text + "\n";
    CHECK_THAT(left, !Holds("[orange] to the worker."));
    CHECK_THAT(left, Holds("[orange] The human says: to the worker."));
    CHECK_THAT(left, Holds("[orange] to the reviewer."));
    auto again = world.record(id);
    REQUIRE(queue_message(world.house().world(), world.house().runner().turns, again, Role::worker, Role::system,
                          "to the next worker"));
    REQUIRE(respawn(world, id));  // its prompt says what there is to say
    for (const auto& message : world.record(id).outbox) CHECK_THAT(message.text, !Holds("to the next worker"));
}

TEST_CASE("a start that failed is forgotten when a respawn brings the agent, however long its reason was") {
    RunnerWorld world;
    const auto id = planning(world);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    write_file(world.home() / "harnesses/late.yml",
               "name: late\nprogram: /nonexistent/late\ninstall: npm install -g late\nargv:\n"
               "  full: [--, \"{prompt}\"]\n");
    set(world, id, [](TaskRecord& record) { record.task.review_harness = "late"; });
    CHECK_FALSE(world.move(id, "agent-review").value().spawn_error.empty());
    const auto* failed = engine::find_notice(world.record(id), NoticeKind::start_failed);
    REQUIRE(failed);
    CHECK_THAT(failed->text, Holds("npm install -g late"));
    CHECK(failed->command == "orange task respawn " + id.value);
    set(world, id, [](TaskRecord& record) { record.task.review_harness = "bot"; });
    respawn(world, id).value();
    CHECK(world.house().control().alive(world.record(id), Role::reviewer));
    CHECK(world.record(id).notices.empty());
}

TEST_CASE("a respawn first finishes the transition that was interrupted") {
    RunnerWorld world;
    const auto id = planning(world);
    set(world, id, [](TaskRecord& record) {
        Intent intent;
        intent.id = "interrupted";
        intent.from = "pending";
        intent.to = "planning";
        record.intent = intent;
    });
    world.kill_agent(id, Role::worker, 1);
    const auto told = world.events(id, "status.changed").size();
    REQUIRE(respawn(world, id));
    CHECK_FALSE(world.record(id).intent);
    CHECK(world.events(id, "status.changed").size() == told + 1);
}
