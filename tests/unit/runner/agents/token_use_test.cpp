// What agents use: it is read while they run, counts once whenever the daemon is killed, and holds back what would use
// more.
#include <chrono>

#include "common/model/usage.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/limits.hpp"

using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t k_thousand = 1000;

struct SpendingWorld : RunnerWorld {
    SpendingWorld() {
        write_file(home() / "harnesses/spender.yml",
                   "name: spender\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\n"
                   "events: {busy: [busy], idle: [idle], key: event}\n"
                   "screen: {otherwise: idle}\n"
                   "usage: {file: events, id: id, input: in, output: out, cache_read: cached, model: model,"
                   " at_most: 100M}\n");
    }
    TaskRecord draft_of(const std::string& summary, int pool = 3) {
        auto record = draft(summary, pool);
        record.task.harness = record.task.review_harness = "spender";
        return record;
    }
    TaskId start(const std::string& budget = {}) {
        auto record = draft_of("do it");
        record.task.budget = budget;
        create(record, "", false).value();
        return record.task.id;
    }
    TokenUse& tokens() { return house().runner().tokens; }
    void look(const TaskId& id) { house().go(house().runner().activities.update(id)); }
    /// The role's program tells that a request has used that.
    void spends(const TaskId& id, std::int64_t in, Role role = Role::worker, const std::string& more = {}) {
        const auto run = record(id).run_of(role)->run;
        const auto file = agents::events_file(house().control().run_folder(record(id)), run);
        const auto before = std::filesystem::exists(file) ? read_file(file) : std::string();
        write_file(file, before + R"({"event":"usage","id":"m)" + std::to_string(++said_) + R"(","in":)" +
                             std::to_string(in) + R"(,"out":0,"cached":7,"model":"large","timestamp":")" +
                             to_rfc3339(outside.clock.now()) + "\"" + more + "}\n");
    }
    void spends_and_is_seen(const TaskId& id, std::int64_t in, Role role = Role::worker) {
        spends(id, in, role);
        look(id);
    }
    std::int64_t counted(const TaskId& id) { return tokens().counted_of(record(id)); }
    void hand_over(const TaskId& id) {
        append_body(id, "\n## Plan\nAPPROACH: straight on\n");
        move(id, "working", Role::worker).value();
        append_body(id, "\n## Handoff\nDONE: all of it\n");
        move(id, "agent-review", Role::worker).value();
    }
    void ends(const TaskId& id, Role role, int exit_status) {
        const auto run = record(id).run_of(role)->run;
        kill_agent(id, role, exit_status);
        house().go(house().runner().exits.agent_exited(id, run));
    }
    const Notice* notice(const TaskId& id, NoticeKind kind) { return engine::find_notice(record(id), kind); }
    Result<Outcome> edit(const TaskId& id, const std::string& budget) {
        Edit edit;
        edit.budget = budget;
        auto done = house().go(house().runner().requests.edit(id, edit, a_human()));
        house().runner().budgets.look();
        return done;
    }
    void set_budget(const std::string& name, const std::string& value) {
        set(*this, name, value);
        house().runner().budgets.look();
    }

  private:
    int said_ = 0;
};

}  // namespace

TEST_CASE("the tokens of a living agent are known as soon as it was looked at, and to the next daemon") {
    SpendingWorld world;
    const auto id = world.start();
    CHECK(world.tokens().rows_of(world.record(id)).empty());
    world.spends_and_is_seen(id, 1000);
    world.spends_and_is_seen(id, 200);
    const auto rows = world.tokens().rows_of(world.record(id));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].role == Role::worker);
    CHECK(rows[0].harness == "spender");
    CHECK(rows[0].model == "large");
    CHECK(rows[0].day == day_of(world.outside.clock.now()));
    CHECK(rows[0].tokens.input == 1200);
    CHECK(rows[0].tokens.cache_read == 14);
    CHECK(rows[0].tokens.requests == 2);
    CHECK(world.counted(id) == 1200);
    world.boot();
    world.recover();
    world.look(id);
    CHECK(world.counted(id) == 1200);
}

TEST_CASE("the sums of a living agent are saved at most once a minute") {
    SpendingWorld world;
    const auto id = world.start();
    world.spends_and_is_seen(id, 1000);
    const auto saved = [&] {
        const auto& usage = world.record(id).run_of(Role::worker)->usage;
        return usage && !usage->rows.empty() ? usage->rows[0].tokens.input : 0;
    };
    CHECK(saved() == 1000);
    world.outside.clock.pass(20s);
    world.spends_and_is_seen(id, 1000);
    CHECK(saved() == 1000);
    CHECK(world.counted(id) == 2000);
    world.outside.clock.pass(60s);
    world.spends_and_is_seen(id, 1);
    CHECK(saved() == 2001);
}

TEST_CASE("the sums of a run that has ended are the task's, and the history has them") {
    SpendingWorld world;
    const auto id = world.start();
    world.spends(id, 3000);
    world.outside.clock.pass(1min);
    world.spends(id, 4000);
    world.ends(id, Role::worker, 1);
    CHECK(world.counted(id) == 7000);
    REQUIRE(world.record(id).usage.size() == 1);
    CHECK(world.record(id).usage[0].tokens.input == 7000);
    const auto exited = world.events(id, "agent.exited");
    REQUIRE(exited.size() == 1);
    CHECK(std::get<std::int64_t>(exited[0].fields.at("tokens_input")) == 7000);
    CHECK(std::get<std::int64_t>(exited[0].fields.at("requests")) == 2);
    world.boot();
    world.recover();
    CHECK(world.counted(id) == 7000);
}

TEST_CASE("a daemon that is killed while it buries an agent counts each token once") {
    for (int step = 1; step < 60; ++step) {
        SpendingWorld world;
        const auto id = world.start();
        world.spends(id, 5000);
        world.outside.clock.pass(1min);
        const auto run = world.record(id).run_of(Role::worker)->run;
        world.kill_agent(id, Role::worker, 1);
        world.outside.fuse.arm(fakes::Fuse::Ending::killed, step);
        bool was_killed = false;
        try {
            world.house().go(world.house().runner().exits.agent_exited(id, run));
        } catch (const fakes::Killed&) {
            was_killed = true;
        }
        world.outside.fuse.disarm();
        world.boot();
        world.recover();
        INFO("killed at step " << step);
        CHECK(world.counted(id) == 5000);
        if (!was_killed) return;
    }
    FAIL("the sweep has no end");
}

TEST_CASE("a run whose program told nothing is not known, and not 0") {
    SpendingWorld world;
    const auto id = world.start();
    world.outside.clock.pass(1h);
    world.ends(id, Role::worker, 1);
    REQUIRE(world.record(id).usage.size() == 1);
    CHECK(world.record(id).usage[0].untold == 1);
    CHECK(world.record(id).usage[0].tokens == Tokens{});
}

TEST_CASE("what was told between the last look and the death of the daemon is known before anything begins") {
    SpendingWorld world;
    const auto id = world.start("100k");
    world.spends_and_is_seen(id, 1000);
    world.spends(id, 100 * k_thousand);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working", Role::worker).value();
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    world.boot();
    world.recover();
    CHECK(world.counted(id) == 101 * k_thousand);
    world.move(id, "agent-review", Role::worker).value();
    CHECK_FALSE(runs(world, id, Role::reviewer));
}

TEST_CASE("more tokens than the program can use are doubtful: they are the task's own, and its human is told") {
    SpendingWorld world;
    const auto id = world.start();
    world.spends(id, 900'000'000);
    world.outside.clock.pass(20s);
    world.look(id);
    REQUIRE(world.notice(id, NoticeKind::usage_doubtful));
    CHECK(needs(world, id).kind == Need::help);
    CHECK(world.counted(id) == 900'000'000);
    CHECK(world.tokens().counted_today("shop") == 0);
    world.boot();
    world.recover();
    CHECK(world.tokens().counted_today("shop") == 0);
}

TEST_CASE("a long run that a daemon reads for the first time, in pieces, is not doubtful") {
    SpendingWorld world;
    const auto id = world.start();
    const auto run = world.record(id).run_of(Role::worker)->run;
    const auto file = agents::events_file(world.house().control().run_folder(world.record(id)), run);
    constexpr int k_requests = 12'000;  // more than is read at once
    std::string lines;
    for (int i = 0; i < k_requests; ++i) {
        lines += R"({"event":"usage","id":"m)" + std::to_string(i) + R"(","in":1000000,"out":0,"cached":7,)" +
                 R"("model":"large","timestamp":")" + to_rfc3339(world.outside.clock.now()) + "\"}\n";
    }
    write_file(file, lines);
    world.outside.clock.pass(3h);
    world.look(id);
    CHECK(comes_true(world, [&] { return world.counted(id) == k_requests * k_thousand * k_thousand; }));
    world.look(id);
    CHECK_FALSE(world.notice(id, NoticeKind::usage_doubtful));
}

TEST_CASE("a task whose budget is used up goes on when the budget is raised, and nothing begins before") {
    SpendingWorld world;
    const auto id = world.start("100k");
    go_on_duty(world);
    world.spends_and_is_seen(id, 79 * k_thousand);
    CHECK_FALSE(world.notice(id, NoticeKind::budget_near));
    world.spends_and_is_seen(id, 10 * k_thousand);
    REQUIRE(world.notice(id, NoticeKind::budget_near));
    CHECK(needs(world, id).kind == Need::nothing);
    world.spends_and_is_seen(id, 11 * k_thousand);
    REQUIRE(world.notice(id, NoticeKind::budget));
    CHECK_FALSE(world.notice(id, NoticeKind::budget_near));
    CHECK(needs(world, id).kind == Need::help);
    CHECK_THAT(needs(world, id).command.text(), Tells("orange task update"));
    CHECK(runs(world, id, Role::worker));

    world.hand_over(id);
    CHECK_FALSE(runs(world, id, Role::reviewer));
    REQUIRE(world.record(id).held_start(Role::reviewer));
    REQUIRE(wait_of(world, id));
    CHECK(wait_of(world, id)->reason == "budget");
    world.boot();
    world.recover();
    CHECK_FALSE(runs(world, id, Role::reviewer));

    world.edit(id, "300k").value();
    CHECK(comes_true(world, [&] { return runs(world, id, Role::reviewer); }));
    world.look(id);
    CHECK_FALSE(world.notice(id, NoticeKind::budget));
    CHECK(needs(world, id).kind == Need::nothing);
}

TEST_CASE("at 150 percent of its budget a task's agent is stopped, and goes on after a raise") {
    SpendingWorld world;
    const auto id = world.start("100k");
    go_on_duty(world);
    world.spends_and_is_seen(id, 149 * k_thousand);
    CHECK(runs(world, id, Role::worker));
    world.spends_and_is_seen(id, 1 * k_thousand);
    CHECK(comes_true(world, [&] { return !runs(world, id, Role::worker); }));
    world.look(id);
    CHECK(needs(world, id).kind == Need::help);
    CHECK(world.record(id).task.status == "planning");
    CHECK(world.events(id, "budget.stopped").size() == 1);
    CHECK(world.events(id, "agent.crashed").empty());
    CHECK(world.counted(id) == 150 * k_thousand);
    world.edit(id, "1M").value();
    CHECK(comes_true(world, [&] { return runs(world, id, Role::worker); }));
}

TEST_CASE("a budget that never stops agents stops none") {
    SpendingWorld world;
    const auto id = world.start("100k");
    world.set_budget("budget.task_stop", "never");
    go_on_duty(world);
    world.spends_and_is_seen(id, 900 * k_thousand);
    world.house().go(world.house().runner().reconciler.wake_all());
    CHECK(world.events(id, "budget.stopped").empty());
    CHECK(runs(world, id, Role::worker));
}

TEST_CASE("what a human starts goes on for a while although the budget is used up, and is told so once") {
    SpendingWorld world;
    const auto id = world.start("100k");
    go_on_duty(world);
    world.spends_and_is_seen(id, 160 * k_thousand);
    CHECK(comes_true(world, [&] { return !runs(world, id, Role::worker); }));
    const auto restarted = world.house().go(world.house().runner().respawns.respawn(id, a_human()));
    REQUIRE(restarted);
    CHECK_THAT(restarted->notes.front(), Holds("160k of its 100k tokens"));
    CHECK(runs(world, id, Role::worker));
    world.look(id);
    CHECK(needs(world, id).kind == Need::nothing);
    world.spends_and_is_seen(id, 49 * k_thousand);
    CHECK(runs(world, id, Role::worker));
    world.spends_and_is_seen(id, 2 * k_thousand);
    CHECK(comes_true(world, [&] { return !runs(world, id, Role::worker); }));
    world.look(id);
    CHECK(needs(world, id).kind == Need::help);
}

TEST_CASE("the budget of a day holds all tasks of its project, until the day changes or it is raised") {
    SpendingWorld world;
    const auto first = world.start();
    world.set_budget("budget.day", "100k");
    go_on_duty(world);
    world.spends_and_is_seen(first, 100 * k_thousand);
    const auto second = world.start();
    CHECK_FALSE(runs(world, second, Role::worker));
    REQUIRE(wait_of(world, second));
    CHECK(wait_of(world, second)->reason == "budget");
    CHECK(needs(world, second).kind == Need::nothing);
    CHECK(needs(world, first).kind == Need::help);
    CHECK_THAT(needs(world, first).command.text(), Tells("orange project update shop --set budget.day="));

    SECTION("it is raised") {
        world.set_budget("budget.day", "1M");
        CHECK(comes_true(world, [&] { return runs(world, second, Role::worker); }));
    }
    SECTION("the day changes") {
        world.outside.clock.pass(24h);
        world.house().runner().budgets.look();
        CHECK(comes_true(world, [&] { return runs(world, second, Role::worker); }));
    }
    SECTION("the next daemon holds them, too") {
        world.boot();
        world.recover();
        CHECK_FALSE(runs(world, second, Role::worker));
    }
    world.look(first);
    const bool is_over = runs(world, second, Role::worker);
    CHECK((needs(world, first).kind == Need::nothing) == is_over);
}

TEST_CASE("the day's tokens of a task that was deleted stay counted") {
    SpendingWorld world;
    const auto id = world.start();
    world.spends_and_is_seen(id, 5000);
    CHECK(world.tokens().counted_today("shop") == 5000);
    world.move(id, "cancelled").value();
    world.house().go(world.house().runner().requests.remove(id, a_human(), true)).value();
    CHECK(world.tokens().counted_today("shop") == 5000);
}

TEST_CASE("the budget of a parent is its family's") {
    SpendingWorld world;
    const auto parent = world.start("100k");
    auto record = world.draft_of("a part");
    record.task.parent = parent;
    world.create(record, "", false).value();
    const auto child = record.task.id;
    world.spends_and_is_seen(child, 60 * k_thousand);
    CHECK_FALSE(world.notice(parent, NoticeKind::budget));
    world.spends_and_is_seen(parent, 40 * k_thousand);
    CHECK(world.tokens().counted_of_family(world.record(parent)) == 100 * k_thousand);
    world.look(child);
    REQUIRE(world.notice(child, NoticeKind::budget));
    CHECK_THAT(needs(world, child).command.text(), Tells("orange task update " + parent.value));
    CHECK_FALSE(world.house().runner().budgets.may_begin(world.record(child)));
}

TEST_CASE("a task's time is the agents', that of its wait for a place, and yours") {
    SpendingWorld world;
    auto record = world.draft_of("do it", 1);
    world.create(record, "", true).value();
    const auto id = record.task.id;
    world.outside.clock.pass(1h);
    world.house().go(world.house().runner().queue.spawn(id, a_human())).value();
    world.outside.clock.pass(2h);
    world.hand_over(id);
    world.outside.clock.pass(30min);
    world.append_body(id, "\n## Review\nVerdict: PASS\n");
    world.move(id, "reviewing", Role::reviewer).value();
    world.outside.clock.pass(3h);
    world.move(id, "cancelled").value();
    std::map<std::string, std::int64_t> hours;
    for (const auto& row : world.record(id).times) hours[row.what] += row.seconds;
    CHECK(hours["worker"] / 60 == 120);
    CHECK(hours["reviewer"] / 60 == 30);
    CHECK(hours["you"] / 60 == 60 + 180);
    CHECK_FALSE(world.record(id).time_open);
}
