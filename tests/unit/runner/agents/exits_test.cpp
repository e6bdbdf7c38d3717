#include <algorithm>

#include "daemon/async/async.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/dying_agents.hpp"

/// What follows from the death of an agent: said, counted once, and with the way out.
using namespace orange;
using namespace orange::test;

namespace {

/// The ends of all of them are seen before the first one is dealt with.
void notice_at_once(RunnerWorld& world, const std::vector<TaskId>& ids, Role role) {
    auto& house = world.house();
    std::vector<std::optional<bool>> noticed(ids.size());
    const auto notice_it = [&](TaskId id, RunId run) -> Awaitable<bool> {
        co_await house.runner().exits.agent_exited(std::move(id), std::move(run));
        co_return true;
    };
    for (std::size_t n = 0; n < ids.size(); ++n) {
        house.begin(notice_it(ids[n], world.record(ids[n]).run_of(role)->run), noticed[n]);
    }
    house.go([&]() -> Awaitable<void> {
        while (!std::ranges::all_of(noticed, [](const auto& each) { return each.has_value(); })) {
            co_await async::sleep(std::chrono::milliseconds(5));
        }
    }());
}

}  // namespace

TEST_CASE("an agent that is alive, or was dealt with, is no death") {
    RunnerWorld world;
    const auto id = planning(world);
    const auto before = world.state_text(id);
    notice(world, id, Role::worker);
    world.house().go(world.house().runner().exits.agent_exited(id, RunId{"another"}));
    CHECK(world.state_text(id) == before);
    CHECK(world.events(id, "agent.exited").empty());
}

TEST_CASE("a task that is stuck after crashes says the last lines of the last one") {
    RunnerWorld world;
    const auto id = planning(world);
    for (const char* said : {"first words", "last words"}) {
        if (!world.record(id).run_of(Role::worker)) REQUIRE(respawn(world, id));
        world.outside.clock.pass(std::chrono::seconds(60));
        world.outside.tmux.screens[world.record(id).run_of(Role::worker)->pane_id] = said;
        dies(world, id, Role::worker, 3);
    }
    REQUIRE(world.record(id).task.status == "stuck");
    CHECK_THAT(world.record(id).moved_because, Holds("last words") && Tells("## Plan"));
    CHECK_THAT(std::get<std::string>(world.events(id, "agent.crashed").back().fields.at("reason")),
               Holds("last words"));
}

TEST_CASE("an agent that died is dead in every state, until one is started again or its workspace is given back") {
    RunnerWorld world;
    const auto worker_is_dead = [&](const TaskId& id) {
        return world.house().runner().respawns.is_dead(world.record(id), Role::worker);
    };
    SECTION("while a human looks") {
        const auto id = under_review(world);
        world.append_body(id, "\n## Review\nVerdict: PASS\n");
        world.move(id, "reviewing").value();
        CHECK_FALSE(worker_is_dead(id));
        dies(world, id, Role::worker, 0);
        CHECK(worker_is_dead(id));
        world.boot();
        CHECK(worker_is_dead(id));
        SECTION("started again") {
            REQUIRE(respawn(world, id));
        }
        SECTION("released") {
            world.move(id, "cancelled").value();
        }
        CHECK(world.record(id).died.empty());
        CHECK_FALSE(worker_is_dead(id));
    }
    SECTION("while its reviewer works") {
        const auto id = under_review(world);
        SECTION("killed") {
            dies(world, id, Role::worker, 137);
            CHECK(worker_is_dead(id));
            world.append_body(id, "\n## Review\nVerdict: FAIL\n");
            world.move(id, "working").value();
            CHECK(world.house().control().alive(world.record(id), Role::worker));
        }
        SECTION("it had done its part, and left") {
            dies(world, id, Role::worker, 0);
        }
        CHECK_FALSE(worker_is_dead(id));
    }
    SECTION("with its tmux server") {
        const auto id = under_review(world);
        world.append_body(id, "\n## Review\nVerdict: PASS\n");
        world.move(id, "reviewing").value();
        another_server(world);
        notice(world, id, Role::worker);
        CHECK(worker_is_dead(id));
    }
}

TEST_CASE("what Orange itself ends is never dead") {
    RunnerWorld world;
    const auto id = planning(world);
    set(world, id, [](TaskRecord& record) { record.runs.front().ending = true; });
    world.kill_agent(id, Role::worker, 129);
    CHECK_FALSE(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
}

TEST_CASE("on a workflow whose states name no agent a dead one is dead too") {
    RunnerWorld world;
    std::filesystem::create_directories(world.home() / "workflows");
    std::filesystem::copy_file(std::filesystem::path(ORANGE_SOURCE_DIR) / "tests/data/workflows/default_003.yml",
                               world.home() / "workflows/default.yml");
    world.boot();
    const auto id = world.make_task();
    world.move(id, "working").value();
    dies(world, id, Role::worker);
    CHECK(world.record(id).task.crash_count() == 1);
    CHECK(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
    REQUIRE(respawn(world, id));
    CHECK_FALSE(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
    dies(world, id, Role::worker);
    CHECK(world.record(id).task.status == "stuck");
    CHECK(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
    REQUIRE(respawn(world, id));
    CHECK_FALSE(world.house().runner().respawns.is_dead(world.record(id), Role::worker));
}

TEST_CASE("a workflow without exit rules tells its human that an agent has ended") {
    RunnerWorld world;
    const std::string agent = GENERATE("agent: worker, ", "");
    write_file(world.home() / "workflows/bare.yml",
               "name: bare\nversion: 1\nstates:\n  pending: {}\n  working: {" + agent +
                   "respawn_prompt: go}\n  done: {terminal: true}\n"
                   "transitions:\n  - from: pending\n    to: working\n    hooks:\n      - action: acquire_workspace\n"
                   "      - {action: spawn_agent, prompt: go, harness: task, permissions: full}\n"
                   "  - {from: working, to: done, by: [system, human], force: true}\nprompts: {go: Work.}\n");
    const auto id = world.make_task("do it", 1, "bare");
    world.move(id, "working").value();
    dies(world, id, Role::worker, GENERATE(0, 1));
    const auto record = world.record(id);
    REQUIRE(engine::find_notice(record, NoticeKind::agent_ended));
    const auto needs = needs_of(world.house().runner(), record);
    CHECK(needs.kind == Need::help);
    CHECK(needs.command == task_command("respawn", id.value));
}

TEST_CASE("a worker that has left its artifact moves the task on, and an advance that fails is told") {
    RunnerWorld world;
    const auto id = planning(world);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\nTOUCHING: all\n");
    SECTION("it moves on") {
        dies(world, id, Role::worker, 0);
        CHECK(world.record(id).task.status == "working");
        REQUIRE(world.events(id, "auto.advanced").size() == 1);
        CHECK_THAT(std::get<std::string>(world.events(id, "auto.advanced")[0].fields.at("reason")), Tells("## Plan"));
        CHECK(world.events(id, "agent.exited").size() == 1);
        CHECK(world.outside.processes.alive.size() == 1);
    }
    SECTION("its workspace was taken away") {
        set(world, id, [](TaskRecord& record) { record.task.workspace.reset(); });
        write_file(world.house().world().tasks.folder(world.record(id)) / "TASK.md",
                   world.task_text(id) + "\n## Plan\nAPPROACH: straight on\nTOUCHING: all\n");
        world.house().world().projects.remove("shop").value();
        dies(world, id, Role::worker, 0);
        CHECK(world.record(id).task.status == "planning");
        CHECK_THAT(attention(world, id), Tells("worker"));
        CHECK_THAT(attention(world, id), Tells("shop"));
    }
}

TEST_CASE("at the second crash the task is stuck, with the crash in its history") {
    RunnerWorld world;
    const auto id = planning(world);
    dies(world, id, Role::worker, 3);
    respawn(world, id).value();
    dies(world, id, Role::worker, 3);
    CHECK(world.record(id).task.status == "stuck");
    const auto crashes = world.events(id, "agent.crashed");
    REQUIRE(crashes.size() == 2);
    CHECK(crashes[1].fields.at("crash_count") == Scalar{std::int64_t{2}});
    CHECK(world.events(id, "agent.exited").size() == 2);
}

TEST_CASE("a verdict whose reviewer died asks for somebody who reads it") {
    RunnerWorld world;
    const auto id = under_review(world);
    world.append_body(id, "\n## Review\nVerdict: PASS\n");
    dies(world, id, Role::reviewer, 0);
    CHECK(world.record(id).task.status == "reviewing");
    CHECK_THAT(attention(world, id), Tells("reviewer"));
    CHECK(engine::find_notice(world.record(id), NoticeKind::unverified_review));
    CHECK(needs_of(world.house().runner(), world.record(id)).kind == Need::review);
    CHECK(world.events(id, "status.changed").back().fields.at("attested") == Scalar{false});
}

TEST_CASE("what is to be said of a review stays when an agent is stopped or started anew") {
    RunnerWorld world;
    const auto id = planning(world);
    auto record = world.record(id);
    engine::raise(record, {NoticeKind::unverified_review, "the review is not verified", "", "", Timestamp{}});
    engine::raise(record, {NoticeKind::merge_failed, "the merge failed", "", "", Timestamp{}});
    world.house().world().tasks.save(record).value();
    dies(world, id, Role::worker, 1);
    const auto stands = [&] {
        const auto& now = world.record(id);
        return engine::find_notice(now, NoticeKind::unverified_review) &&
               engine::find_notice(now, NoticeKind::merge_failed);
    };
    CHECK(engine::find_notice(world.record(id), NoticeKind::agent_crashed));
    CHECK(respawn(world, id));
    CHECK_FALSE(engine::find_notice(world.record(id), NoticeKind::agent_crashed));
    CHECK(stands());
    CHECK(world.house().go(world.house().runner().respawns.stop(id)));
    CHECK(stands());
}

TEST_CASE("who is not waited for may die without a word, and whom a human needs is asked for") {
    RunnerWorld world;
    const auto id = under_review(world);
    dies(world, id, Role::worker, 1);
    CHECK(attention(world, id) == "none");
    CHECK(world.record(id).task.status == "agent-review");
    CHECK(world.events(id, "agent.exited").size() == 1);

    const auto asking = world.make_task("", 2);
    auto project = *world.house().world().projects.find("shop");
    project.pool_size = 2;
    world.house().world().projects.put(project).value();
    world.move(asking, "clarification").value();
    dies(world, asking, Role::worker, 5);
    CHECK_THAT(attention(world, asking), Tells("worker") && Tells("5") && Tells("orange task respawn " + asking.value));
}

TEST_CASE("a reviewer that crashes is started again, and one that cannot be is asked for") {
    RunnerWorld world;
    const auto id = under_review(world);
    SECTION("it is started") {
        dies(world, id, Role::reviewer, 1);
        CHECK(world.house().control().alive(world.record(id), Role::reviewer));
        CHECK(attention(world, id) == "none");
        CHECK(world.events(id, "agent.respawned").size() == 1);
    }
    SECTION("tmux has no place for it") {
        world.kill_agent(id, Role::reviewer, 1);
        world.outside.tmux.open_fails = Error(ErrorCode::unavailable, "no place");
        notice(world, id, Role::reviewer);
        CHECK_THAT(attention(world, id), Tells("reviewer"));
        CHECK_THAT(attention(world, id), Holds("no place"));
        CHECK_FALSE(world.record(id).run_of(Role::reviewer));
    }
}

TEST_CASE("agents that die at once are each one crash, and each is started again, as if it had died alone") {
    RunnerWorld world;
    constexpr int k_tasks = 10;  // more than are dealt with at a time
    std::vector<TaskId> ids;
    for (int n = 0; n < k_tasks; ++n) ids.push_back(under_review(world, "task " + std::to_string(n), k_tasks));
    for (const auto& id : ids) world.kill_agent(id, Role::reviewer, 1);
    notice_at_once(world, ids, Role::reviewer);
    for (const auto& id : ids) {
        CHECK(world.house().control().alive(world.record(id), Role::reviewer));
        CHECK(world.record(id).task.crash_count() == 1);
        CHECK(world.events(id, "agent.crashed").size() == 1);
        CHECK(world.events(id, "agent.respawned").size() == 1);
        CHECK(attention(world, id) == "none");
    }
}

TEST_CASE("however many agents die at once, no window is listed, and all processes are looked at once or twice") {
    RunnerWorld world;
    constexpr int k_tasks = 20;
    std::vector<TaskId> ids;
    for (int n = 0; n < k_tasks; ++n) ids.push_back(planning(world, "task " + std::to_string(n), k_tasks));
    for (const auto& id : ids) world.kill_agent(id, Role::worker, 1);
    const auto& tmux = world.outside.tmux;
    const auto& launcher = world.house().world().launcher;
    const auto lists = tmux.asked_for_panes;
    const auto looks = launcher.looks_at_processes();
    notice_at_once(world, ids, Role::worker);
    CHECK(tmux.asked_for_panes == lists);
    CHECK(launcher.looks_at_processes() - looks <= 2);  // the first begins before the second asks
    for (const auto& id : ids) CHECK(world.events(id, "agent.crashed").size() == 1);
}

TEST_CASE("a crash looks at as many processes whether few agents run or many") {
    RunnerWorld world;
    const auto looks_for_crash = [&](int tasks) {
        TaskId last;
        for (int n = 0; n < tasks; ++n) last = under_review(world, "task " + random_id(6), 12);
        world.kill_agent(last, Role::reviewer, 1);
        const auto before = world.outside.exits.looks;
        notice(world, last, Role::reviewer);
        CHECK(world.events(last, "agent.crashed").size() == 1);
        return world.outside.exits.looks - before;
    };
    const auto among_few = looks_for_crash(3);
    CHECK(looks_for_crash(9) == among_few);
}

TEST_CASE("the crash that makes a task stuck says how its agent ended") {
    RunnerWorld world;
    const auto id = planning(world);
    dies(world, id, Role::worker, 3);
    REQUIRE(respawn(world, id));
    dies(world, id, Role::worker, 4);
    CHECK(world.record(id).task.status == "stuck");
    const auto crashes = world.events(id, "agent.crashed");
    REQUIRE(crashes.size() == 2);
    CHECK(crashes[0].fields.at("exit_status") == Scalar{std::int64_t{3}});
    CHECK(crashes[1].fields.at("exit_status") == Scalar{std::int64_t{4}});
}

TEST_CASE("a death in a state that needs nobody, or that was told of already, asks for nothing more") {
    RunnerWorld world;
    const auto id = under_review(world);
    world.append_body(id, "\n## Review\nVerdict: PASS\n");
    world.move(id, "reviewing").value();
    dies(world, id, Role::worker, 1);
    CHECK(attention(world, id) == "none");
    const auto asking = world.make_task("", 2);
    auto project = *world.house().world().projects.find("shop");
    project.pool_size = 2;
    world.house().world().projects.put(project).value();
    world.move(asking, "clarification").value();
    set(world, asking, [](TaskRecord& record) { look_at(record, "look here first"); });
    dies(world, asking, Role::worker, 1);
    CHECK(engine::find_notice(world.record(asking), NoticeKind::hook_failed));
    CHECK(world.record(asking).runs.empty());
}
