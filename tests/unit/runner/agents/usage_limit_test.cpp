// A harness at its usage limit. None of its agents starts until the limit resets; then the agents that wait go on.
#include <chrono>

#include "tests/catch.hpp"
#include "tests/unit/runner/limits.hpp"

using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

const std::string k_limit = "You've hit your session limit · resets 11:36am (UTC)\n";
const std::string k_dialog = "What do you want to do?\n1. Stop and wait\n";

struct LimitedWorld : RunnerWorld {
    LimitedWorld() {
        write_file(home() / "harnesses/thrifty.yml",
                   "name: thrifty\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\n"
                   "screen: {busy: [working], limited: [Please log in], composer_empty: [❯], otherwise: idle}\n"
                   "usage_limit:\n  screen: [You've hit your]\n  resets: [\"resets \"]\n"
                   "  dialog: [\"What do you want to do?\"]\n");
        first = start();
    }
    TaskRecord draft_of(const std::string& summary) {
        auto record = draft(summary, 3);
        record.task.harness = record.task.review_harness = "thrifty";
        return record;
    }
    TaskId start() {
        const auto record = draft_of("do it");
        create(record, "", false).value();
        return record.task.id;
    }
    void show(const TaskId& id, const std::string& screen, Role role = Role::worker) {
        outside.tmux.screens[record(id).run_of(role)->pane_id] = screen + "❯\n";
        look(id);
    }
    /// Its worker has handed over.
    void hand_over(const TaskId& id) {
        append_body(id, "\n## Plan\nAPPROACH: straight on\n");
        move(id, "working").value();
        append_body(id, "\n## Handoff\nDONE: all of it\n");
        move(id, "agent-review").value();
    }
    void look(const TaskId& id) { house().go(house().runner().activities.update(id)); }
    void ends(const TaskId& id, int exit_status) {
        const auto run = record(id).run_of(Role::worker)->run;
        kill_agent(id, Role::worker, exit_status);
        house().go(house().runner().exits.agent_exited(id, run));
    }
    bool deliver(const TaskId& id) { return orange::test::deliver(*this, id); }
    const Notice* notice(const TaskId& id) { return engine::find_notice(record(id), NoticeKind::usage_limit); }
    std::optional<UsageHold> hold() { return house().runner().usage.of("thrifty"); }
    Result<Outcome> respawn_first() { return house().go(house().runner().respawns.respawn(first, a_human())); }

    TaskId first;
};

}  // namespace

TEST_CASE("an agent at its usage limit holds back the starts of its harness until the reset, and goes on then") {
    LimitedWorld world;
    world.show(world.first, "working\n");
    world.show(world.first, k_limit + k_dialog);
    REQUIRE(world.notice(world.first));
    CHECK_THAT(world.notice(world.first)->text, Holds("11:36am (UTC)"));
    CHECK(needs(world, world.first).kind == Need::help);
    REQUIRE(world.hold());
    CHECK(to_rfc3339(world.hold()->until).starts_with("2026-11-20T11:36:0"));

    const auto second = world.start();
    CHECK(world.record(second).task.status == "pending");
    REQUIRE(wait_of(world, second));
    CHECK(wait_of(world, second)->reason == "usage_limit");
    CHECK(wait_of(world, second)->until == world.hold()->until);
    CHECK(needs(world, second).kind == Need::nothing);
    // Another harness is not concerned.
    auto other = world.draft("of another");
    world.create(other, "", false).value();
    CHECK(runs(world, other.task.id, Role::worker));
    // Nothing is typed meanwhile: it would be lost.
    world.house().go(world.house().runner().outbox.send(world.first, Role::worker, "hello")).value();
    CHECK(world.outside.tmux.state.sent.empty());

    world.outside.clock.pass(2h);
    world.house().runner().reconciler.room_changed();
    CHECK(comes_true(world, [&] { return runs(world, second, Role::worker); }));
    world.look(world.first);
    world.look(world.first);
    REQUIRE(world.record(world.first).outbox.size() == 2);
    CHECK(world.notice(world.first));
    // The question is closed before anything is typed.
    CHECK_FALSE(world.deliver(world.first));
    CHECK(world.outside.tmux.escaped.size() == 1);
    CHECK(world.outside.tmux.state.sent.empty());
    world.show(world.first, k_limit);
    CHECK(world.deliver(world.first));
    CHECK(world.outside.tmux.state.sent.size() == 2);
    world.look(world.first);
    CHECK(world.record(world.first).outbox.empty());  // it is told once
    world.show(world.first, "working\n");
    CHECK_FALSE(world.notice(world.first));
    CHECK(needs(world, world.first).kind == Need::nothing);
}

TEST_CASE("the hold of a usage limit outlives the daemon, and so does its end") {
    LimitedWorld world;
    world.show(world.first, "working\n");
    world.show(world.first, k_limit);
    const auto until = world.hold()->until;
    world.boot();
    world.recover();
    REQUIRE(world.hold());
    CHECK(world.hold()->until == until);
    const auto second = world.start();
    CHECK(world.record(second).task.status == "pending");
    world.stop();
    world.outside.clock.pass(2h);
    world.boot();
    CHECK_FALSE(world.hold());
    world.recover();
    CHECK(runs(world, second, Role::worker));
    world.look(world.first);
    CHECK(world.record(world.first).outbox.size() == 1);
    CHECK_FALSE(world.hold());
}

TEST_CASE("a usage limit that was seen while the clock was ahead ends no later than one that is seen now") {
    LimitedWorld world;
    world.outside.clock.pass(24h * 366);
    world.show(world.first, "working\n");
    world.show(world.first, k_limit);
    const auto length = world.hold()->until - world.hold()->since;
    world.outside.clock.pass(-24h * 366);
    const auto now = world.outside.clock.now();
    world.house().runner().usage.end_times_at(now);
    CHECK(world.hold()->since == now);
    CHECK(world.hold()->until == now + length);
}

TEST_CASE("a one-shot agent that ends at its usage limit has not crashed, and is started again when it resets") {
    LimitedWorld world;
    write_file(world.home() / "harnesses/thrifty.yml",
               "name: thrifty\nprogram: true\nmode: oneshot\nargv:\n  full: [--, \"{prompt}\"]\n"
               "usage_limit:\n  screen: [You've hit your]\n  resets: [\"resets \"]\n");
    world.outside.tmux.screens[world.record(world.first).run_of(Role::worker)->pane_id] = "[orange] do it\n" + k_limit;
    SECTION("by itself") {
        world.ends(world.first, 1);
        REQUIRE(world.hold());
        CHECK(world.hold()->until > world.outside.clock.now() + 1h);
        CHECK(world.record(world.first).task.counter("crash_count") == 0);
        CHECK(world.events(world.first, "agent.exited").back().fields.contains("usage_limit"));
        REQUIRE(wait_of(world, world.first));
        CHECK(wait_of(world, world.first)->reason == "usage_limit");
        CHECK(needs(world, world.first).kind == Need::nothing);
        world.outside.clock.pass(2h);
        world.house().runner().reconciler.room_changed();
        CHECK(comes_true(world, [&] { return runs(world, world.first, Role::worker); }));
    }
    SECTION("however often, in the same conversation") {
        for (int i = 0; i < 2; ++i) {
            world.ends(world.first, 1);
            REQUIRE(world.hold());
            world.outside.clock.pass(3h);
            world.house().runner().reconciler.room_changed();
            REQUIRE(comes_true(world, [&] { return runs(world, world.first, Role::worker); }));
            const auto& pane = world.record(world.first).run_of(Role::worker)->pane_id;
            world.outside.tmux.screens[pane] = "[orange] go on\nYou've hit your weekly limit\n";
        }
        CHECK(world.events(world.first, "agent.resume_failed").empty());
        CHECK(world.record(world.first).task.counter("crash_count") == 0);
    }
    SECTION("after a crash, too") {
        auto record = world.record(world.first);
        record.task.counters["crash_count"] = 1;
        world.house().world().tasks.save(record).value();
        world.ends(world.first, 1);
        CHECK(world.record(world.first).task.status == "planning");
        CHECK(world.hold());
    }
    SECTION("not in a status that waits for nobody") {
        auto record = world.record(world.first);
        record.task.status = "reviewing";
        world.house().world().tasks.save(record).value();
        world.ends(world.first, 1);
        CHECK_FALSE(world.hold());
        CHECK(world.record(world.first).held.empty());
        CHECK(world.record(world.first).runs.empty());
    }
    SECTION("not where it was killed") {
        world.ends(world.first, 137);
        CHECK_FALSE(world.hold());
    }
}

TEST_CASE("the hold is over when one of its agents works again") {
    LimitedWorld world;
    world.show(world.first, "working\n");
    world.show(world.first, k_limit);
    const auto second = world.start();
    CHECK(world.record(second).task.status == "pending");
    world.show(world.first, "working\n");
    CHECK(world.hold());  // it may be refused in a moment
    world.outside.clock.pass(11s);
    world.look(world.first);
    CHECK_FALSE(world.hold());
    CHECK_FALSE(world.notice(world.first));
    world.house().runner().reconciler.room_changed();
    CHECK(comes_true(world, [&] { return runs(world, second, Role::worker); }));
}

TEST_CASE("a worker that waits for its review hides no limit of the reviewer, and is not told to go on") {
    LimitedWorld world;
    world.hand_over(world.first);
    world.show(world.first, "working\n");
    world.show(world.first, k_limit);  // its closing words
    CHECK(world.hold());
    CHECK_FALSE(world.notice(world.first));
    world.outside.clock.pass(2h);
    world.look(world.first);
    CHECK_FALSE(world.hold());
    CHECK(world.record(world.first).outbox.empty());
    world.show(world.first, "working\n", Role::reviewer);
    CHECK(world.record(world.first).outbox.empty());
    CHECK_FALSE(world.hold());  // what the worker's window still shows is no news
    world.show(world.first, "You've hit your weekly limit\n", Role::reviewer);
    CHECK(world.hold());
    REQUIRE(world.notice(world.first));
    CHECK(world.notice(world.first)->cause == "reviewer");
    CHECK(needs(world, world.first).kind == Need::help);
    world.outside.clock.pass(31min);
    world.look(world.first);
    REQUIRE(world.record(world.first).outbox.size() == 1);
    CHECK(world.record(world.first).outbox.front().to == Role::reviewer);
}

TEST_CASE("a task that comes back to its worker waits for no limit that is long over") {
    LimitedWorld world;
    world.hand_over(world.first);
    world.show(world.first, "working\n");
    world.show(world.first, k_limit);
    world.outside.clock.pass(2h);
    world.append_body(world.first, "\n## Review\nVerdict: FAIL\n");
    world.move(world.first, "working").value();
    world.look(world.first);
    CHECK_FALSE(world.hold());
    CHECK(world.deliver(world.first));
    CHECK_FALSE(world.outside.tmux.state.sent.empty());
}

TEST_CASE("an agent that begins to work does not lift the limit that another one has met since") {
    LimitedWorld world;
    const auto second = world.start();
    world.show(world.first, "working\n");
    world.show(second, "working\n");
    world.show(world.first, k_limit);
    world.show(second, k_limit);
    world.outside.clock.pass(2h);
    for (const auto& id : {world.first, second}) {
        world.look(id);
        CHECK(world.deliver(id));
        world.show(id, "working\n");
    }
    world.outside.clock.pass(1s);
    world.show(world.first, "You've hit your weekly limit\n");
    REQUIRE(world.hold());
    world.outside.clock.pass(11s);
    world.look(second);
    CHECK(world.hold());
    CHECK_FALSE(world.notice(second));
}

TEST_CASE("a limit that comes back is waited for longer, and one without a time is tried again") {
    LimitedWorld world;
    const std::string limit = "You've hit your weekly limit\n";
    world.show(world.first, "working\n");
    world.show(world.first, limit);
    REQUIRE(world.hold());
    const auto wait = world.hold()->until - world.hold()->since;
    CHECK(wait == 15min);
    world.outside.clock.pass(16min);
    world.look(world.first);
    CHECK(world.record(world.first).outbox.size() == 1);
    CHECK(world.deliver(world.first));
    world.show(world.first, limit);  // at once it may still be the old one
    CHECK_FALSE(world.hold());
    world.outside.clock.pass(11s);
    world.look(world.first);
    REQUIRE(world.hold());
    CHECK(world.hold()->until - world.hold()->since == 30min);
    CHECK(world.notice(world.first));
    world.outside.clock.pass(31min);
    world.look(world.first);
    CHECK(world.record(world.first).outbox.size() == 1);
}

TEST_CASE("a login that is missing needs help, and holds nothing back") {
    LimitedWorld world;
    world.show(world.first, "working\n");
    world.show(world.first, "Please log in\n");
    CHECK(engine::find_notice(world.record(world.first), NoticeKind::agent_cannot_work));
    CHECK(needs(world, world.first).kind == Need::help);
    CHECK_FALSE(world.hold());
    const auto second = world.start();
    CHECK(runs(world, second, Role::worker));
    CHECK(world.record(world.first).outbox.empty());
}

TEST_CASE("a human who starts an agent during the limit is told when, and can end the wait") {
    LimitedWorld world;
    const auto second = world.start();
    world.show(world.first, "working\n");
    world.show(second, "working\n");
    world.show(second, k_limit);
    world.kill_agent(world.first, Role::worker, 0);
    const auto told = world.respawn_first();
    REQUIRE(told);
    CHECK_FALSE(runs(world, world.first, Role::worker));
    CHECK(world.record(world.first).held.size() == 1);
    REQUIRE(told->notes.size() == 1);
    CHECK_THAT(told->notes.front(), Tells("orange daemon reload"));
    world.house().runner().usage.lift_all();
    world.house().runner().reconciler.room_changed();
    CHECK(comes_true(world, [&] { return runs(world, world.first, Role::worker); }));
}

namespace {

std::vector<std::string> messages(LimitedWorld& world, const TaskId& id) {
    std::vector<std::string> texts;
    for (const auto& message : world.record(id).outbox) texts.push_back(message.text);
    return texts;
}

/// The first task's worker is at its limit until 11:36, and a second task waits for its start.
struct HeldWorld : LimitedWorld {
    explicit HeldWorld(const Json& resume) {
        set(*this, "resume_after_limit", resume);
        show(first, "working\n");
        show(first, k_limit);
        REQUIRE(hold());
        second = start();
        CHECK(record(second).task.status == "pending");
    }
    void pass(std::chrono::minutes time) {
        outside.clock.pass(time);
        house().runner().reconciler.room_changed();
        look(first);
        look(second);
    }
    TaskId second;
};

}  // namespace

TEST_CASE("with resume_after_limit: false nothing goes on by itself after a limit, and its human is told once") {
    HeldWorld world(false);
    const auto told = [&] { return world.events(world.first, "notification").size(); };
    CHECK_THAT(world.notice(world.first)->text, Tells("11:36"));
    REQUIRE(wait_of(world, world.second));
    CHECK(wait_of(world, world.second)->reason == "usage_limit");
    CHECK(wait_of(world, world.second)->for_human);
    CHECK(needs(world, world.second).kind == Need::nothing);
    CHECK(told() == 0);

    world.pass(120min);
    CHECK(messages(world, world.first).empty());
    CHECK(needs(world, world.first).kind == Need::help);
    CHECK_THAT(needs(world, world.first).command.text(), Tells("orange task send " + world.first.value));
    CHECK(told() == 1);
    CHECK(world.record(world.first).to_tell);  // the human is to be notified, although the task needed help before
    CHECK(world.record(world.second).task.status == "pending");
    CHECK(wait_of(world, world.second)->reason == "resume");
    CHECK_FALSE(wait_of(world, world.second)->until);
    CHECK(needs(world, world.second).kind == Need::start);
    CHECK(needs(world, world.second).command == task_command("spawn", world.second.value));

    world.pass(24h);
    CHECK(messages(world, world.first).empty());
    CHECK(told() == 1);
    CHECK(world.record(world.second).task.status == "pending");

    SECTION("a human lets each go on") {
        world.house().go(world.house().runner().queue.spawn(world.second, a_human())).value();
        CHECK(runs(world, world.second, Role::worker));
        world.house().go(world.house().runner().outbox.send(world.first, Role::worker, "Go on")).value();
        CHECK(world.outside.tmux.state.sent.size() == 1);
        world.show(world.first, "working\n");
        CHECK_FALSE(world.notice(world.first));
    }
    SECTION("a human lets all go on") {
        world.house().runner().usage.lift_all();
        world.pass(1min);
        CHECK(comes_true(world, [&] { return runs(world, world.second, Role::worker); }));
        CHECK(messages(world, world.first).size() == 1);
    }
    SECTION("what is created afterwards starts at once") {
        const auto third = world.start();
        CHECK(runs(world, third, Role::worker));
        CHECK(world.record(world.second).task.status == "pending");
    }
    SECTION("another daemon knows it, too") {
        world.stop();
        world.boot();
        world.recover();
        CHECK(world.record(world.second).task.status == "pending");
        CHECK(needs(world, world.second).kind == Need::start);
        world.look(world.first);
        CHECK(messages(world, world.first).empty());
    }
    SECTION("the setting changes") {
        set(world, "resume_after_limit", true);
        world.look(world.first);
        CHECK(comes_true(world, [&] { return runs(world, world.second, Role::worker); }));
        CHECK(messages(world, world.first).size() == 1);
    }
}

TEST_CASE("with resume_after_limit: false a one-shot agent that ended at its limit waits for its human") {
    LimitedWorld world;
    set(world, "resume_after_limit", false);
    write_file(world.home() / "harnesses/thrifty.yml",
               "name: thrifty\nprogram: true\nmode: oneshot\nargv:\n  full: [--, \"{prompt}\"]\n"
               "usage_limit:\n  screen: [You've hit your]\n  resets: [\"resets \"]\n");
    world.outside.tmux.screens[world.record(world.first).run_of(Role::worker)->pane_id] = "[orange] do it\n" + k_limit;
    world.ends(world.first, 1);
    REQUIRE(world.hold());
    world.look(world.first);
    CHECK(needs(world, world.first).kind == Need::nothing);
    world.outside.clock.pass(2h);
    world.house().runner().reconciler.room_changed();
    world.look(world.first);
    CHECK(needs(world, world.first).kind == Need::help);
    CHECK(needs(world, world.first).command == task_command("respawn", world.first.value));
    CHECK(world.events(world.first, "notification").size() == 1);
    CHECK_FALSE(runs(world, world.first, Role::worker));
    REQUIRE(world.respawn_first());
    CHECK(runs(world, world.first, Role::worker));
    CHECK_FALSE(world.notice(world.first));
}

TEST_CASE("with hours, agents go on after a limit only within them, across midnight, too") {
    // It is 10 o'clock, and the limit ends at 11:36.
    SECTION("after them") {
        HeldWorld world("22:00-06:00");
        const auto at = *from_rfc3339("2026-11-20T22:00:00.000Z");
        CHECK_THAT(world.notice(world.first)->text, Tells("22:00"));
        CHECK(wait_of(world, world.second)->until == at);
        world.pass(120min);
        CHECK(messages(world, world.first).empty());
        REQUIRE(wait_of(world, world.second));
        CHECK(wait_of(world, world.second)->reason == "resume");
        CHECK(wait_of(world, world.second)->until == at);
        CHECK(needs(world, world.second).kind == Need::nothing);
        CHECK(world.house().runner().usage.next_end() == at);
        CHECK(world.events(world.first, "notification").empty());
        world.pass(14h);  // after midnight
        CHECK(comes_true(world, [&] { return runs(world, world.second, Role::worker); }));
        CHECK(messages(world, world.first).size() == 1);
    }
    SECTION("within them") {
        HeldWorld world("11:00-12:00");
        world.pass(97min);
        CHECK(comes_true(world, [&] { return runs(world, world.second, Role::worker); }));
        CHECK(messages(world, world.first).size() == 1);
    }
    SECTION("a day later, if the daemon has not run within them") {
        HeldWorld world("11:00-12:00");
        world.pass(27h);
        CHECK(messages(world, world.first).empty());
        CHECK(world.record(world.second).task.status == "pending");
    }
}

TEST_CASE("a project that goes on at once does not take along one that waits for its human") {
    HeldWorld world(true);
    auto other = shop(world);
    other.name = "garden";
    other.settings.resume_after_limit = "false";
    world.house().world().projects.put(other).value();
    auto record = world.draft_of("elsewhere");
    record.task.project = "garden";
    world.create(record, "", false).value();
    world.pass(120min);
    CHECK(comes_true(world, [&] { return runs(world, world.second, Role::worker); }));
    CHECK(world.deliver(world.first));
    world.show(world.first, "working\n");
    world.outside.clock.pass(11s);
    world.pass(1min);
    CHECK(world.record(record.task.id).task.status == "pending");
    CHECK(needs(world, record.task.id).kind == Need::start);
}
