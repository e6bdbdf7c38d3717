// Limits delay the start of an agent, never a transition.
#include "tests/unit/runner/limits.hpp"

#include <algorithm>

#include "tests/catch.hpp"

using namespace orange;
using namespace orange::test;

namespace {

Result<Outcome> respawn_held(RunnerWorld& world, const TaskId& id) {
    return world.house().go(world.house().runner().respawns.respawn(id, a_human()));
}

Result<Outcome> stop_held(RunnerWorld& world, const TaskId& id) {
    return world.house().go(world.house().runner().respawns.stop(id));
}

void see_end_of(RunnerWorld& world, const TaskId& id, Role role, int status) {
    const auto run = world.record(id).run_of(role)->run;
    world.kill_agent(id, role, status);
    world.house().go(world.house().runner().exits.agent_exited(id, run));
}

/// One reviewer runs, and the second task waits for its own.
struct OneReviewer {
    RunnerWorld world;
    TaskId first, second;

    OneReviewer() {
        (void)world.draft("", 3);
        set(world, "limits.reviewer", 1);
        first = in_review(world);
        second = in_review(world);
    }
};

}  // namespace

TEST_CASE("without a setting, four workers and two reviewers of a project run, and 0 is no limit") {
    RunnerWorld world;
    (void)world.draft("", 8);
    auto project = shop(world);
    project.settings = {};
    world.house().world().projects.put(project).value();
    TaskId last;
    for (int n = 0; n < 5; ++n) last = planning(world, "task " + std::to_string(n));
    REQUIRE(wait_of(world, last));
    CHECK(wait_of(world, last)->limit == 4);
    set(world, "limits.worker", 0);
    CHECK(comes_true(world, [&] { return runs(world, last, Role::worker); }));
    for (int n = 0; n < 3; ++n) last = in_review(world);
    REQUIRE(wait_of(world, last));
    CHECK(wait_of(world, last)->limit == 2);
    set(world, "limits.reviewer", 0);
    CHECK(comes_true(world, [&] { return runs(world, last, Role::reviewer); }));
}

TEST_CASE("a task changes its status at once, and its agent starts when another one has ended") {
    OneReviewer f;
    CHECK(f.world.record(f.second).task.status == "agent-review");
    CHECK_FALSE(f.world.record(f.second).intent);
    CHECK(runs(f.world, f.first, Role::reviewer));
    CHECK_FALSE(runs(f.world, f.second, Role::reviewer));
    CHECK(f.world.record(f.second).notices.empty());
    const auto wait = wait_of(f.world, f.second);
    REQUIRE(wait);
    CHECK(wait->role == Role::reviewer);
    CHECK(wait->reason == "role_limit");
    CHECK(wait->running == 1);
    CHECK(wait->limit == 1);
    CHECK(wait->place == 1);
    CHECK(needs(f.world, f.second).kind == Need::nothing);
    CHECK(needs(f.world, f.second).text == wait->text);
    CHECK(f.world.events(f.second, "agent.waits").size() == 1);
    CHECK(f.world.events(f.second, "review.started").empty());
    CHECK_FALSE(f.world.house().runner().respawns.is_dead(f.world.record(f.second), Role::reviewer));

    pass_review(f.world, f.first);
    CHECK(comes_true(f.world, [&] { return runs(f.world, f.second, Role::reviewer); }));
    CHECK(f.world.record(f.second).held.empty());
    CHECK_FALSE(wait_of(f.world, f.second));
    CHECK(f.world.events(f.second, "agent.spawned").size() == 2);
    CHECK(f.world.events(f.second, "review.started").size() == 1);
    CHECK(f.world.events(f.second, "agent.waits").size() == 1);
}

TEST_CASE("while memory is short no agent starts, and those that run are left alone") {
    RunnerWorld world;
    (void)world.draft("", 3);
    const auto first = workable(world);
    auto& room = world.house().runner().capacity;
    const auto file = world.git.dir / "pressure";
    const auto press = [&](const std::string& full) {
        write_file(file,
                   "some avg10=80.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=" + full + " avg60=0.00 total=0\n");
        room.read_pressure_from(file);
    };
    press("34.56");
    auto record = world.draft("the next");
    const auto second = record.task.id;
    world.create(record, "", false).value();
    world.move(first, "agent-review").value();
    for (const auto& id : {first, second}) {
        const auto wait = wait_of(world, id);
        REQUIRE(wait);
        CHECK(wait->reason == "memory");
        CHECK_THAT(wait->text, Tells("34"));
    }
    CHECK(runs(world, first, Role::worker));
    CHECK(world.record(second).task.status == "pending");
    world.house().runner().reconciler.room_changed();
    CHECK_FALSE(runs(world, first, Role::reviewer));

    press("9.90");
    world.house().runner().reconciler.room_changed();
    CHECK(comes_true(world, [&] { return runs(world, first, Role::reviewer) && runs(world, second, Role::worker); }));
    room.read_pressure_from(world.git.dir / "missing");  // a kernel that does not tell
    CHECK(room.may_start(world.record(second), Role::reviewer));
}

TEST_CASE("agents of one harness start one after the other, each when the login of the one before is over") {
    RunnerWorld world;
    write_file(world.home() / "harnesses/shy.yml",
               "name: shy\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\nready_after: 2s\n");
    std::vector<TaskId> ids;
    for (const char* branch : {"one", "two", "three"}) {
        auto record = world.draft(branch, 3);
        record.task.harness = "shy";
        ids.push_back(record.task.id);
        world.create(record, "", false).value();
    }
    const auto running = [&] {
        return std::ranges::count_if(ids, [&](const TaskId& id) { return runs(world, id, Role::worker); });
    };
    const auto waiting = [&] {
        const auto found = std::ranges::find_if(ids, [&](const TaskId& id) { return wait_of(world, id).has_value(); });
        return found == ids.end() ? std::string() : wait_of(world, *found)->reason;
    };
    CHECK(running() == 1);
    CHECK(waiting() == "login");
    CHECK(world.record(ids[1]).task.status == "planning");  // only the agent waits
    world.house().runner().reconciler.room_changed();
    CHECK(comes_true(world, [&] { return world.house().world().task_locks.busy(ids[1].value) == false; }));
    CHECK(running() == 1);
    for (const int expected : {2, 3}) {
        world.outside.clock.pass(std::chrono::seconds(2));
        world.house().runner().reconciler.room_changed();
        CHECK(comes_true(world, [&] { return running() == expected; }));
    }
    CHECK(waiting().empty());
}

TEST_CASE("those that wait longest start first, and as many as there is room for when the limit is raised") {
    OneReviewer f;
    const auto third = in_review(f.world);
    CHECK(wait_of(f.world, f.second)->place == 1);
    CHECK(wait_of(f.world, third)->place == 2);
    set(f.world, "limits.reviewer", 2);
    CHECK(comes_true(f.world, [&] { return runs(f.world, f.second, Role::reviewer); }));
    CHECK_FALSE(runs(f.world, third, Role::reviewer));
    CHECK(wait_of(f.world, third)->place == 1);
    set(f.world, "limits.reviewer", 0);
    CHECK(comes_true(f.world, [&] { return runs(f.world, third, Role::reviewer); }));
}

TEST_CASE("a pending task whose worker has no room stays pending, without a workspace, and starts by itself") {
    RunnerWorld world;
    (void)world.draft("", 3);
    set(world, "limits.worker", 1);
    const auto first = workable(world);
    auto record = world.draft("the next");
    const auto second = record.task.id;
    const auto made = world.create(record, "", false).value();
    REQUIRE(made.notes.size() == 1);
    CHECK_THAT(made.notes.front(), Tells("orange project update shop --set limits.worker=2"));
    CHECK(world.record(second).task.status == "pending");
    CHECK(world.record(second).queued);
    CHECK_FALSE(world.record(second).task.workspace);
    REQUIRE(wait_of(world, second));
    CHECK(wait_of(world, second)->reason == "role_limit");
    CHECK(needs(world, second).kind == Need::nothing);
    const auto again = world.house().go(world.house().runner().queue.spawn(second, a_human())).value();
    REQUIRE(again.notes.size() == 1);
    CHECK_THAT(again.notes.front(), Tells("limits.worker=2"));
    CHECK(world.record(second).task.status == "pending");

    SECTION("a worker whose task is reviewed takes nobody's place") {
        world.move(first, "agent-review").value();
        CHECK(runs(world, first, Role::worker));
    }
    SECTION("a task that is cancelled makes room, too") {
        world.move(first, "cancelled").value();
    }
    SECTION("the limit is raised") {
        set(world, "limits.worker", 2);
    }
    CHECK(comes_true(world, [&] { return runs(world, second, Role::worker); }));
    CHECK(world.record(second).task.status == "planning");
}

TEST_CASE("without a limit in its way a pending task does not start because another one is cancelled") {
    RunnerWorld world;
    const auto first = workable(world, 1);
    auto record = world.draft("the next");
    const auto second = record.task.id;
    set(world, "limits.worker", 5);
    world.create(record, "", false).value();
    CHECK_FALSE(wait_of(world, second));
    world.move(first, "cancelled").value();
    int looks = 0;
    comes_true(world, [&] { return ++looks > 50; });
    CHECK(world.record(second).task.status == "pending");
    CHECK(needs(world, second).kind == Need::start);
}

TEST_CASE("what has begun goes before what has not, with one agent of a harness at a time") {
    RunnerWorld world;
    (void)world.draft("", 3);
    world.house().world().settings.harness_limits = {{"bot", 1}};
    const auto first = workable(world);
    auto record = world.draft("the next");
    const auto second = record.task.id;
    world.create(record, "", false).value();
    REQUIRE(wait_of(world, second));
    CHECK(wait_of(world, second)->reason == "harness_limit");
    CHECK(wait_of(world, second)->harness == "bot");
    world.move(first, "agent-review").value();
    CHECK(runs(world, first, Role::reviewer));  // its own worker only waits
    CHECK(world.record(second).task.status == "pending");
    pass_review(world, first);
    CHECK(comes_true(world, [&] { return runs(world, second, Role::worker); }));
    // The first is rejected, and works again: its worker lives, and needs no room.
    Edit feedback;
    feedback.feedback = "more lemons";
    engine::Request request;
    request.to = "working";
    CHECK(world.house().go(world.house().runner().requests.move(first, request, a_human(), feedback)));
    CHECK(runs(world, first, Role::worker));
    CHECK(world.record(first).held.empty());
}

TEST_CASE("an agent that crashes waits behind those that waited before it, and counts one crash") {
    OneReviewer f;
    see_end_of(f.world, f.first, Role::reviewer, 1);
    CHECK(f.world.record(f.first).task.crash_count() == 1);
    CHECK(f.world.record(f.first).held_start(Role::reviewer) != nullptr);
    CHECK(comes_true(f.world, [&] { return runs(f.world, f.second, Role::reviewer); }));
    CHECK(needs(f.world, f.first).kind == Need::nothing);
    CHECK(f.world.record(f.first).notices.empty());
    pass_review(f.world, f.second);
    CHECK(comes_true(f.world, [&] { return runs(f.world, f.first, Role::reviewer); }));
    CHECK(f.world.events(f.first, "agent.respawned").size() == 1);
    CHECK(f.world.events(f.first, "agent.spawned").size() == 2);
}

TEST_CASE("a human who starts an agent that waits is told why, and jumps no limit") {
    OneReviewer f;
    const auto told = respawn_held(f.world, f.second).value();
    REQUIRE(told.notes.size() == 1);
    CHECK_THAT(told.notes.front(), Tells("orange project update shop --set limits.reviewer=2"));
    CHECK_FALSE(runs(f.world, f.second, Role::reviewer));
    CHECK(f.world.record(f.second).held.size() == 1);
}

TEST_CASE("leaving the status ends the wait, and so does its human") {
    OneReviewer f;
    SECTION("another status") {
        f.world.append_body(f.second, "\n## Review\nVerdict: FAIL\n");
        f.world.move(f.second, "working").value();
        CHECK(needs(f.world, f.second).kind == Need::nothing);
    }
    SECTION("cancelled") {
        f.world.move(f.second, "cancelled").value();
    }
    SECTION("stopped") {
        CHECK(stop_held(f.world, f.second));
        CHECK(needs(f.world, f.second).kind == Need::start);
    }
    CHECK(f.world.record(f.second).held.empty());
    CHECK(f.world.house().world().tasks.held().empty());
    pass_review(f.world, f.first);
    f.world.house().go(f.world.house().runner().queue.look("shop"));
    CHECK_FALSE(runs(f.world, f.second, Role::reviewer));
}

TEST_CASE("a message for an agent that waits is kept until it runs") {
    OneReviewer f;
    const auto sent =
        f.world.house().go(f.world.house().runner().outbox.send(f.second, Role::reviewer, "look at lemons"));
    REQUIRE(sent);
    REQUIRE(sent->notes.size() == 1);
    pass_review(f.world, f.first);
    REQUIRE(comes_true(f.world, [&] { return runs(f.world, f.second, Role::reviewer); }));
    CHECK(f.world.record(f.second).outbox.size() == 1);
}

TEST_CASE("an agent that cannot be started when its turn comes is told of, and holds up nobody") {
    OneReviewer f;
    const auto third = in_review(f.world);
    auto record = f.world.record(f.second);
    record.task.review_harness = "nobody";
    f.world.house().world().tasks.save(record).value();
    pass_review(f.world, f.first);
    CHECK(comes_true(f.world, [&] { return runs(f.world, third, Role::reviewer); }));
    CHECK(f.world.record(f.second).held.empty());
    CHECK(engine::find_notice(f.world.record(f.second), NoticeKind::start_failed) != nullptr);
    CHECK(needs(f.world, f.second).kind == Need::help);
    CHECK(f.world.events(f.second, "spawn.failed").size() == 1);
}

TEST_CASE("while tmux does not answer an agent that waits keeps its place, and is tried again by the poll") {
    OneReviewer f;
    f.world.outside.tmux.open_fails = Error(ErrorCode::unavailable, "no answer");
    set(f.world, "limits.reviewer", 2);
    const auto is_told = [&] {
        return engine::find_notice(f.world.record(f.second), NoticeKind::start_failed) != nullptr;
    };
    CHECK(comes_true(f.world, is_told));
    CHECK(f.world.record(f.second).held.size() == 1);
    f.world.outside.tmux.open_fails.reset();
    f.world.house().runner().reconciler.room_changed();
    CHECK(comes_true(f.world, [&] { return runs(f.world, f.second, Role::reviewer); }));
    CHECK_FALSE(is_told());
}

TEST_CASE("the place of an agent that is about to start is taken, whenever another one asks for it", "[slow]") {
    RunnerWorld world;
    (void)world.draft("", 3);
    set(world, "limits.reviewer", 1);
    const auto first = in_review(world), second = workable(world);
    const auto run = world.record(first).run_of(Role::reviewer)->run;
    world.keep();
    bool crash_is_seen = false;
    for (int steps = 0; !crash_is_seen; ++steps) {
        INFO(steps << " steps of the crash before the other task is handed over");
        world.back();
        auto& house = world.house();
        world.kill_agent(first, Role::reviewer, 1);
        std::optional<bool> crashed;
        std::optional<Result<Outcome>> moved;
        const auto see_crash = [](Runner& runner, TaskId id, RunId its) -> Awaitable<bool> {
            co_await runner.exits.agent_exited(id, its);
            co_return true;
        };
        house.begin(see_crash(house.runner(), first, run), crashed);
        for (int i = 0; i < steps && !crashed; ++i) house.io.run_one();
        crash_is_seen = crashed.has_value();
        engine::Request request;
        request.to = "agent-review";
        house.begin(house.runner().requests.move(second, request, a_human(), {}), moved);
        CHECK(comes_true(world, [&] { return crashed && moved; }));
        CHECK(moved->has_value());
        const auto running = [&] {
            return static_cast<int>(runs(world, first, Role::reviewer)) +
                   static_cast<int>(runs(world, second, Role::reviewer));
        };
        CHECK(comes_true(world, [&] { return running() > 0; }));
        CHECK(running() == 1);
    }
}

TEST_CASE("an agent whose executor begins it holds up the next login for half a minute, and not while it is queued") {
    RunnerWorld world;
    write_file(world.home() / "harnesses/shy.yml",
               "name: shy\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\nready_after: 2s\n");
    auto record = world.draft("one", 3);
    record.task.harness = "shy";
    const auto id = record.task.id;
    world.create(record, "", false).value();
    const auto change = [&](const std::function<void(RunPlace&)>& what) {
        auto changed = world.record(id);
        auto& place = changed.runs.at(0).place;
        if (!place) place.emplace();
        what(*place);
        world.house().world().tasks.save(changed).value();
    };
    const auto& room = world.house().runner().capacity;
    change([](RunPlace&) {});
    world.outside.clock.pass(std::chrono::seconds(10));
    CHECK(room.is_logging_in("shy"));
    change([&](RunPlace& place) { place.queued_since = world.outside.clock.now(); });
    CHECK_FALSE(room.is_logging_in("shy"));
    change([&](RunPlace& place) {
        place.queued_since.reset();
        place.started_at = world.outside.clock.now();
    });
    CHECK(room.is_logging_in("shy"));
    world.outside.clock.pass(std::chrono::seconds(3));
    CHECK_FALSE(room.is_logging_in("shy"));
    change([](RunPlace& place) { place.started_at.reset(); });
    CHECK(room.is_logging_in("shy"));
    world.outside.clock.pass(std::chrono::seconds(30));
    CHECK_FALSE(room.is_logging_in("shy"));
}

TEST_CASE("who waits for their human takes no place, and goes on beyond the limit") {
    RunnerWorld world;
    (void)world.draft("", 8);
    set(world, "limits.worker", 2);
    const auto asking = planning(world, "one"), stuck = planning(world, "two");
    const auto third = planning(world, "three"), fourth = planning(world, "four");
    REQUIRE(wait_of(world, third));
    CHECK(wait_of(world, third)->running == 2);
    world.move(asking, "clarification").value();
    CHECK(comes_true(world, [&] { return runs(world, third, Role::worker); }));
    CHECK_FALSE(runs(world, fourth, Role::worker));
    world.move(stuck, "stuck").value();
    CHECK(comes_true(world, [&] { return runs(world, fourth, Role::worker); }));

    const auto fifth = planning(world, "five");
    SECTION("an answer lets it go on, and new ones wait until fewer run than the limit") {
        world.move(asking, "planning").value();
        REQUIRE(wait_of(world, fifth));
        CHECK(wait_of(world, fifth)->running == 3);
        CHECK(wait_of(world, fifth)->limit == 2);
        world.kill_agent(stuck, Role::worker, 1);
        world.move(stuck, "working").value();
        CHECK(runs(world, stuck, Role::worker));
        CHECK(wait_of(world, fifth)->running == 4);
    }
    SECTION("a dialog that stands") {
        auto record = world.record(third);
        engine::raise(record, {NoticeKind::agent_dialog, "Really?", "", "worker", world.outside.clock.now()});
        world.house().world().tasks.save(record).value();
        world.house().runner().reconciler.room_changed();
        CHECK(wait_of(world, fifth)->running == 2);
        world.outside.clock.pass(std::chrono::minutes(2));
        world.house().runner().reconciler.room_changed();
        CHECK(comes_true(world, [&] { return runs(world, fifth, Role::worker); }));
    }
}

TEST_CASE("of the tasks that wait, as many need a start as there are free workspaces") {
    RunnerWorld world;
    const auto first = workable(world, 1);
    std::vector<TaskId> waiting;
    for (int n = 0; n < 3; ++n) {
        auto record = world.draft("next " + std::to_string(n));
        waiting.push_back(record.task.id);
        world.create(record, "", false).value();
    }
    world.move(first, "cancelled").value();
    CHECK(needs(world, waiting[0]).kind == Need::start);
    CHECK(needs(world, waiting[1]).kind == Need::nothing);
    CHECK_THAT(needs(world, waiting[2]).text, Holds("place 3"));
}
