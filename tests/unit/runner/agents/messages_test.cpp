#include "common/model/json.hpp"
#include "daemon/runner/agents/activity.hpp"
#include "daemon/runner/agents/outbox.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/runner/house.hpp"

/// What is said to an agent, when it is typed, and who is told where it cannot be.
using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

/// A harness whose program shows dialogs, in its window, its title and a file.
struct TalkWorld : RunnerWorld {
    TalkWorld() {
        write_file(home() / "harnesses/shy.yml",
                   "name: shy\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\nready_after: 2s\n"
                   "screen:\n  waiting: [\"Really?\"]\n  busy: [working]\n  composer_empty: [\"❯\"]\n"
                   "title:\n  waiting: [\"[!]\"]\n");
        write_file(home() / "harnesses/reads.yml",
                   "name: reads\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\n"
                   "screen:\n  busy: [working]\n  otherwise: idle\n  composer_empty: [\"❯\"]\n");
        write_file(home() / "harnesses/slow.yml",
                   "name: slow\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\n"
                   "screen:\n  waiting: [\"Really?\"]\n  busy: [working]\n  otherwise: idle\n"
                   "prompt: {empty: [\">\"], below: [status]}\n");
        write_file(home() / "harnesses/filed.yml",
                   "name: filed\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\n"
                   "state_file:\n  path: " +
                       (home().parent_path() / "state.json").string() +
                       "\n  key: status\n  values: {idle: [idle], busy: [busy], waiting: [waiting]}\n"
                       "screen:\n  waiting: [\"Really?\"]\n");
    }
    TaskId started_with(const std::string& harness) {
        const auto id = make_task("do it", 2);
        auto record = this->record(id);
        record.task.harness = harness;
        house().world().tasks.save(record).value();
        move(id, "planning").value();
        outside.clock.pass(30s);
        return id;
    }
    Result<Outcome> send(const TaskId& id, const std::string& text, Role to = Role::worker) {
        return house().go(house().runner().outbox.send(id, to, text));
    }
    bool deliver(const TaskId& id) { return orange::test::deliver(*this, id); }
    void look(const TaskId& id) { house().go(house().runner().activities.update(id)); }
    std::string pane(const TaskId& id) { return record(id).run_of(Role::worker)->pane_id; }
    std::string attention(const TaskId& id) { return orange::test::attention(*this, id); }
    agents::Activity activity(const TaskId& id) {
        const auto now = record(id);
        return house().go(house().runner().activities.read(now, Role::worker)).activity;
    }
    const std::vector<std::pair<std::string, std::string>>& typed() { return outside.tmux.state.sent; }
};

}  // namespace

TEST_CASE("a message is one harmless line that says who speaks") {
    TalkWorld world;
    const auto id = world.started_with("bot");
    const auto said = [&](const std::string& text) {
        world.send(id, text).value();
        return world.typed().back().second;
    };
    CHECK(said("go on") == "[orange] The human says: go on.");
    CHECK(said("  why?  ") == "[orange] The human says: why?");
    CHECK(said("look at @file") == "[orange] The human says: look at @file .");
    CHECK(said("\x1b[31mred") == "[orange] The human says: \\x1b[31mred.");
    CHECK(said("   ") == "[orange] The human says: ");
    CHECK(world.events(id, "agent.notified").size() == 5);
    CHECK(world.record(id).outbox.empty());
}

TEST_CASE("nobody is told what an agent that does not run cannot hear") {
    TalkWorld world;
    const auto id = world.started_with("bot");
    const auto refused = world.send(id, "hello", Role::reviewer);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::conflict);
    CHECK_THAT(refused.error().message, Tells("orange task why " + id.value));
    CHECK(world.record(id).outbox.empty());
}

TEST_CASE("a message waits until the program has had time to start") {
    TalkWorld world;
    const auto id = world.started_with("shy");
    world.outside.clock.pass(-29s);
    const auto queued = world.send(id, "hello");
    REQUIRE(queued);
    CHECK(queued->notes.size() == 1);
    CHECK(world.typed().empty());
    world.outside.clock.pass(5s);
    CHECK_FALSE(world.deliver(id));  // it has not begun to work
    world.outside.clock.pass(5s);
    CHECK(world.deliver(id));
    CHECK(world.typed().size() == 1);
    CHECK(world.attention(id) == "none");
}

TEST_CASE("a message is typed as soon as the program was seen at work, and anew after a dialog") {
    TalkWorld world;
    const auto id = world.started_with("shy");
    world.outside.clock.pass(-26s);
    world.outside.tmux.screens[world.pane(id)] = "starting";
    world.look(id);
    world.send(id, "one").value();
    CHECK(world.typed().empty());
    world.outside.tmux.screens[world.pane(id)] = "working";
    world.look(id);
    world.outside.tmux.screens[world.pane(id)] = "❯";
    CHECK(world.deliver(id));
    CHECK(world.typed().size() == 1);

    world.outside.tmux.screens[world.pane(id)] = "Really?";
    world.look(id);
    world.outside.tmux.screens[world.pane(id)] = "starting\n❯";
    world.look(id);
    world.send(id, "two").value();
    CHECK(world.typed().size() == 1);
    world.outside.clock.pass(10s);
    CHECK(world.deliver(id));
    CHECK(world.typed().size() == 2);
}

TEST_CASE("nothing is typed into a dialog, and a human is asked to answer it") {
    TalkWorld world;
    const auto id = world.started_with("shy");
    world.outside.tmux.screens[world.pane(id)] = "Delete everything? Really?";
    world.send(id, "yes").value();
    CHECK(world.typed().empty());
    CHECK_THAT(world.attention(id), Tells("orange task attach " + id.value));
    world.outside.tmux.screens[world.pane(id)] = "working";
    CHECK(world.activity(id) == agents::Activity::busy);
    CHECK_FALSE(world.deliver(id));
    world.outside.tmux.screens[world.pane(id)] = "working\n❯";
    CHECK(world.deliver(id));
    CHECK(world.typed().size() == 1);
}

TEST_CASE("a dialog is seen without a message too, in the window, the title or the program's own file") {
    TalkWorld world;
    SECTION("in the window") {
        const auto id = world.started_with("shy");
        world.look(id);
        CHECK(world.attention(id) == "none");
        world.outside.tmux.screens[world.pane(id)] = "Really?";
        world.look(id);
        CHECK_THAT(world.attention(id), Tells("orange task attach " + id.value));
        const auto state = world.state_text(id);
        world.look(id);
        CHECK(world.state_text(id) == state);
    }
    SECTION("in the title") {
        const auto id = world.started_with("shy");
        world.outside.tmux.state.panes.at(0).title = "[!] Action required";
        world.look(id);
        CHECK_THAT(world.attention(id), Tells("orange task attach " + id.value));
    }
    SECTION("in its file, which is believed over the window") {
        const auto id = world.started_with("filed");
        const auto file = world.home().parent_path() / "state.json";
        write_file(file, R"({"status": "idle"})");
        world.outside.tmux.screens[world.pane(id)] = "Really?";
        CHECK(world.activity(id) == agents::Activity::idle);
        world.look(id);
        CHECK(world.attention(id) == "none");
        write_file(file, R"({"status": "waiting"})");
        world.look(id);
        CHECK_THAT(world.attention(id), Tells("orange task attach " + id.value));
        std::filesystem::remove(file);
        CHECK(world.activity(id) == agents::Activity::waiting);  // of the window
    }
}

TEST_CASE("what an agent does is unknown where nothing shows it") {
    TalkWorld world;
    const auto id = world.started_with("shy");
    world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 1);
    CHECK(world.activity(id) == agents::Activity::unknown);
    world.outside.tmux_faults.disarm();
    auto record = world.record(id);
    record.runs.front().harness = "forgotten";
    world.house().world().tasks.save(record).value();
    CHECK(world.activity(id) == agents::Activity::unknown);
    record.runs.front().pane_id.clear();
    world.house().world().tasks.save(record).value();
    CHECK(world.activity(id) == agents::Activity::unknown);
    record.runs.clear();
    world.house().world().tasks.save(record).value();
    CHECK(world.activity(id) == agents::Activity::unknown);
}

TEST_CASE("a message that cannot be typed for long is told, once, and goes out when it can") {
    TalkWorld world;
    const auto id = world.started_with("bot");
    const auto pane = world.pane(id);
    world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 2);  // the screen, then the keys
    world.send(id, "hello").value();
    REQUIRE(world.outside.tmux_faults.struck);
    CHECK(world.attention(id) == "none");
    world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 2);
    CHECK_FALSE(world.deliver(id));
    CHECK(world.attention(id) == "none");  // not yet
    world.house().world().settings.message_patience = 0ms;
    world.outside.tmux_faults.arm(fakes::TmuxFault::does_not_answer, 2);
    CHECK_FALSE(world.deliver(id));
    CHECK_THAT(world.attention(id), Tells("worker") && Tells("orange task attach " + id.value));
    CHECK(world.record(id).outbox.size() == 1);
    world.outside.tmux_faults.disarm();
    CHECK(world.deliver(id));
    CHECK(world.typed().size() == 1);
}

TEST_CASE("what Orange had to say to an agent that is gone is dropped, a human's words wait for the next one") {
    TalkWorld world;
    const auto id = world.started_with("bot");
    auto record = world.record(id);
    REQUIRE(queue_message(world.house().world(), world.house().runner().turns, record, Role::reviewer, Role::system,
                          "the review", "key"));
    REQUIRE(queue_message(world.house().world(), world.house().runner().turns, record, Role::reviewer, Role::system,
                          "the review", "key"));
    CHECK(record.outbox.size() == 1);
    CHECK(world.deliver(id));
    CHECK(world.record(id).outbox.empty());
    CHECK(world.typed().empty());
    record = world.record(id);
    REQUIRE(queue_message(world.house().world(), world.house().runner().turns, record, Role::reviewer, Role::human,
                          "please hurry"));
    CHECK_FALSE(world.deliver(id));
    CHECK(world.record(id).outbox.size() == 1);

    // Nobody is sent to a window that there is not, and whoever has seen it is not asked at once again.
    world.house().world().settings.message_patience = 0ms;
    CHECK_FALSE(world.deliver(id));
    CHECK_THAT(world.attention(id), Tells("reviewer") && Tells("orange task why " + id.value));
    world.house().world().settings.message_patience = 1h;
    CHECK_FALSE(world.deliver(id));
    world.house().go(world.house().runner().requests.acknowledge(id)).value();
    CHECK_FALSE(world.deliver(id));
    CHECK(world.attention(id) == "none");
}

TEST_CASE("what a human said and nobody heard before the task ended is in its history, and asks for nothing") {
    TalkWorld world;
    const auto id = world.started_with("bot");
    auto record = world.record(id);
    REQUIRE(queue_message(world.house().world(), world.house().runner().turns, record, Role::reviewer, Role::system,
                          "the review", "key"));
    REQUIRE(queue_message(world.house().world(), world.house().runner().turns, record, Role::reviewer, Role::human,
                          "please hurry"));
    const auto cancelled = world.move(id, "cancelled");
    REQUIRE(cancelled);
    CHECK_THAT(cancelled->notes.back(), Tells("reviewer") && Holds("please hurry"));
    CHECK(world.record(id).outbox.empty());
    const auto dropped = world.events(id, "message.dropped");
    REQUIRE(dropped.size() == 1);
    CHECK(dropped[0].fields.at("message") == Scalar{std::string("[orange] The human says: please hurry.")});
    world.house().world().settings.message_patience = 0ms;
    CHECK(world.deliver(id));
    CHECK(world.attention(id) == "none");
}

TEST_CASE("a message is seen, held or swallowed as the window shows") {
    TalkWorld world;
    const auto id = world.started_with("slow");
    const std::string text = "[orange] The human says: go on.";
    auto& tmux = world.outside.tmux;
    const auto show = [&](const std::string& shown) {
        tmux.screens[world.pane(id)] = shown;
        world.look(id);
    };
    const auto state = [&] { return std::string(world.record(id).typed.back().state()); };
    const auto acknowledge = [&] { return acknowledge_typed(world, id); };
    show("working");
    show("idle\n>\nstatus");
    world.send(id, "go on").value();
    REQUIRE(world.typed().size() == 1);
    REQUIRE(state() == "typed");
    world.outside.clock.pass(1s);

    SECTION("shown among its turns, and its prompt is empty") {
        show("> " + text + "\nidle\n>\nstatus");
        CHECK(acknowledge());
        CHECK(state() == "seen");
    }
    SECTION("it begins to work") {
        show("working\n>\nstatus");
        CHECK(acknowledge());
        CHECK(state() == "seen");
    }
    SECTION("in its prompt while it works: Enter again, seen, and the notice goes") {
        show("working\n> " + text + "\nstatus");
        tmux.entered = Entered::holds;
        CHECK_FALSE(acknowledge());
        CHECK(tmux.enters == 2);
        CHECK(state() == "typed");
        world.outside.clock.pass(9s);
        show("idle\n> " + text + "\nstatus");
        CHECK(acknowledge());
        CHECK(tmux.enters == 3);
        CHECK(state() == "typed");
        CHECK_THAT(world.attention(id), Tells("orange task attach " + id.value));
        CHECK(acknowledge());
        CHECK(tmux.enters == 3);  // its human knows of it
        show("> " + text + "\nidle\n>\nstatus");
        CHECK(acknowledge());
        CHECK(state() == "seen");
        CHECK(world.attention(id) == "none");
    }
    SECTION("in its prompt beside other text: no Enter, and its human is told") {
        show("idle\n> never do this " + text + "\nstatus");
        CHECK_FALSE(acknowledge());
        world.outside.clock.pass(9s);
        CHECK(acknowledge());
        CHECK(tmux.enters == 1);
        CHECK(state() == "typed");
        CHECK_THAT(world.attention(id), Holds("other text") && Tells("orange task attach " + id.value));
    }
    SECTION("in its prompt: who has seen the notice is not told again") {
        world.outside.clock.pass(9s);
        show("idle\n> " + text + "\nstatus");
        CHECK(acknowledge());
        world.house().go(world.house().runner().requests.acknowledge(id)).value();
        CHECK(acknowledge());
        CHECK(world.attention(id) == "none");
    }
    SECTION("swallowed: typed once more, then told") {
        world.outside.clock.pass(9s);
        CHECK_FALSE(acknowledge());
        CHECK(world.typed().size() == 2);
        world.outside.clock.pass(9s);
        CHECK(acknowledge());
        CHECK(world.typed().size() == 2);
        CHECK_THAT(world.attention(id), Tells("orange task attach " + id.value));
    }
    SECTION("nobody knows: it is not typed again long afterwards, and its human is told") {
        world.outside.clock.pass(31s);
        CHECK(acknowledge());
        CHECK(state() == "typed");
        CHECK(world.typed().size() == 1);
        CHECK_THAT(world.attention(id), Holds("may not have got") && Tells("orange task attach " + id.value));
    }
    SECTION("shown once, and scrolled away since: it is not typed again") {
        show("> " + text + "\nmuch\n> a half line\nstatus");
        CHECK_FALSE(acknowledge());
        world.outside.clock.pass(9s);
        show("much\n>\nstatus");
        CHECK(acknowledge());
        CHECK(state() == "seen");
        CHECK(world.typed().size() == 1);
    }
    SECTION("in its prompt below a question: no Enter, which would answer it") {
        tmux.views_hold = true;
        show("Really?\n> " + text + "\nstatus");
        CHECK_FALSE(acknowledge());
        CHECK(tmux.enters == 1);
    }
}

TEST_CASE("a message that a daemon pasted before it was killed is not pasted again, and Enter is pressed") {
    TalkWorld world;
    const auto id = world.started_with("slow");
    const auto show = [&](const std::string& shown) {
        world.outside.tmux.screens[world.pane(id)] = shown;
        world.look(id);
    };
    show("working");
    show("> half a line\nstatus");
    world.send(id, "go on").value();
    CHECK(world.typed().empty());
    show("> [orange] The human says: go on.\nstatus");
    CHECK(world.deliver(id));
    CHECK(world.typed().at(0).second.empty());  // nothing was pasted
    CHECK(world.outside.tmux.enters == 1);
    CHECK(world.record(id).outbox.empty());
}

TEST_CASE("a message waits while somebody writes in the window or was there lately, and the reason is told") {
    TalkWorld world;
    const auto id = world.started_with("slow");
    const auto show = [&](const std::string& shown) {
        world.outside.tmux.screens[world.pane(id)] = shown;
        world.look(id);
    };
    show("working");
    show(">\nstatus");
    SECTION("a half line") {
        show("> rm -rf build/\nstatus");
        const auto sent = world.send(id, "go on");
        REQUIRE(sent);
        CHECK_THAT(sent->notes.at(0), Holds("somebody is writing"));
        world.house().world().settings.message_patience = 0ms;
        CHECK_FALSE(world.deliver(id));
        CHECK_THAT(world.attention(id), Holds("somebody is writing") && Tells("orange task attach " + id.value));
        show(">\nstatus");
        CHECK(world.deliver(id));
    }
    SECTION("a key, also of a person who has left") {
        auto& pane = world.outside.tmux.state.panes.at(0);
        world.outside.tmux.state.clients = {{"/dev/pts/9", pane.session_name, world.outside.clock.now()}};
        world.send(id, "go on").value();
        CHECK(world.typed().empty());
        world.outside.clock.pass(59s);
        CHECK_FALSE(world.deliver(id));
        world.outside.clock.pass(2s);
        CHECK(world.deliver(id));
    }
    SECTION("a menu in place of the prompt") {
        show("Choose the permissions\n  1. Ask\n> 2. Full access\n\nenter select\n");
        world.send(id, "go on").value();
        CHECK_FALSE(world.deliver(id));
        CHECK(world.typed().empty());
        show(">\nstatus");
        CHECK(world.deliver(id));
    }
    CHECK(world.typed().size() == 1);
    CHECK(world.outside.tmux.enters == 1);
}

TEST_CASE("what holds a message to one agent does not hold one to the other") {
    TalkWorld world;
    const auto id = world.started_with("slow");
    auto& tmux = world.outside.tmux;
    auto record = world.record(id);
    auto run = *record.run_of(Role::worker);
    run.role = Role::reviewer;
    run.run = RunId{"anotherRun00"};
    run.pane_id = "%77";
    record.runs.push_back(run);
    world.house().world().tasks.save(record).value();
    auto pane = tmux.state.panes.at(0);
    pane.ref.pane_id = run.pane_id;
    tmux.state.panes.push_back(pane);
    const auto worker = world.record(id).run_of(Role::worker)->pane_id;
    tmux.screens[run.pane_id] = "working\n>\nstatus";
    tmux.screens[worker] = "working\n>\nstatus";
    world.look(id);
    tmux.screens[run.pane_id] = "idle\n>\nstatus";
    tmux.screens[worker] = "idle\n> a half line\nstatus";
    world.look(id);
    world.send(id, "go on").value();
    world.send(id, "and on").value();
    REQUIRE(world.house().go(world.house().runner().outbox.send(id, Role::reviewer, "look closely")));
    REQUIRE(world.typed().size() == 1);
    CHECK_THAT(world.typed()[0].second, Holds("look closely"));
    tmux.screens[worker] = "idle\n>\nstatus";
    world.look(id);
    CHECK(world.deliver(id));
    REQUIRE(world.typed().size() == 3);
    CHECK_THAT(world.typed()[1].second, Holds("go on"));
    CHECK_THAT(world.typed()[2].second, Holds("and on"));
}

TEST_CASE("a long message goes as a file, whose path is typed") {
    TalkWorld world;
    const auto id = world.started_with("bot");
    const std::string text(2000, 'x');
    world.send(id, text).value();
    REQUIRE(world.typed().size() == 1);
    const auto typed = world.typed()[0].second;
    CHECK(typed.size() < 320);
    const auto begin = typed.find('/');
    CHECK_THAT(read_file(typed.substr(begin, typed.find(' ', begin) - begin)), Holds(text));
    CHECK_THAT(std::get<std::string>(world.events(id, "agent.notified").at(0).fields.at("message")), Holds(text));
}

TEST_CASE("a message that a program has queued for long is seen when its turn ends, also if it has scrolled away") {
    TalkWorld world;
    const auto id = world.started_with("reads");
    auto& screen = world.outside.tmux.screens[world.pane(id)];
    const auto acknowledge = [&] { return acknowledge_typed(world, id); };
    screen = "working\n❯\n";
    world.look(id);
    world.send(id, "go on").value();
    screen = "working\n";
    REQUIRE(world.typed().size() == 1);
    for (int i = 0; i < 5; ++i) {
        world.outside.clock.pass(9s);
        world.look(id);
        CHECK_FALSE(acknowledge());
        CHECK_FALSE(world.house().runner().outbox.may_be_seen(id));
    }
    screen = "much else\n❯\n";
    world.look(id);
    CHECK(world.house().runner().outbox.may_be_seen(id));
    CHECK(acknowledge());
    CHECK(world.record(id).typed.back().state() == "seen");
    CHECK(world.typed().size() == 1);
    CHECK_FALSE(world.house().runner().outbox.may_be_seen(id));
}

TEST_CASE("a reminder is looked for soon, although nothing was found out about the message before it") {
    TalkWorld world;
    const auto id = world.started_with("reads");
    auto& reconciler = world.house().runner().reconciler;
    std::chrono::milliseconds alarm{};
    reconciler.start([&](std::chrono::milliseconds time, const std::function<void()>&) {
        alarm = time;
        return async::Stopper();
    });
    const auto rest = [&](std::chrono::milliseconds time) {
        world.outside.clock.pass(time);
        world.look(id);
        reconciler.wake(id);
        world.house().go([]() -> Awaitable<void> { co_return; }());
    };
    world.outside.tmux.screens[world.pane(id)] = "working";
    world.look(id);
    world.outside.tmux.screens[world.pane(id)] = "❯\n";
    world.look(id);
    world.send(id, "go on").value();
    REQUIRE(world.typed().size() == 1);
    rest(40s);
    CHECK(world.record(id).typed.front().state() == "typed");
    CHECK_THAT(world.attention(id), Holds("may not have got"));
    world.house().go(world.house().runner().requests.acknowledge(id)).value();
    rest(25s);
    REQUIRE(world.typed().size() == 2);
    CHECK(alarm <= 2s);
}

TEST_CASE("the patience with a message begins with that message, not with one that left before it was typed") {
    TestTime time;
    TalkWorld world;
    const auto id = world.started_with("bot");
    const auto settle = [&] { world.house().go(world.house().runner().reconciler.settle(id)); };
    world.outside.tmux.screens[world.pane(id)] = "loading";
    world.send(id, "one").value();
    settle();
    time.advance(31s);
    auto record = world.record(id);
    record.outbox.clear();
    world.house().world().tasks.save(record).value();
    world.send(id, "two").value();
    settle();
    CHECK(world.attention(id) == "none");
    time.advance(29s);
    settle();
    CHECK(world.attention(id) == "none");
    time.advance(29s);
    settle();
    CHECK_THAT(world.attention(id), Holds("two"));
}

TEST_CASE("what is typed into a window that its program has not drawn yet would be lost, however long that takes") {
    TalkWorld world;
    const auto id = world.started_with("reads");
    world.outside.tmux.screens[world.pane(id)] = "";
    world.look(id);
    world.send(id, "go on").value();
    for (int i = 0; i < 3; ++i) {
        world.outside.clock.pass(5s);
        CHECK_FALSE(world.deliver(id));
    }
    world.outside.tmux.screens[world.pane(id)] = "ready\n❯";
    world.outside.clock.pass(9s);
    CHECK_FALSE(world.deliver(id));
    world.outside.clock.pass(1s);
    CHECK(world.deliver(id));
    CHECK(world.typed().size() == 1);
}

TEST_CASE("a program's list says which conversation is a run's, and the prompt of one that continues it is typed") {
    RunnerWorld world;
    const auto harnesses = world.home() / "harnesses";
    write_file(harnesses / "lister.yml",
               "name: lister\nprogram: ./lister\nargv:\n  full: [\"{session_args}\", --, \"{prompt}\"]\n"
               "session:\n  list: [list]\n  resume: [-s, \"{session}\"]\n  prompt: typed\n");
    write_file(harnesses / "lister", "#!/bin/sh\n[ \"$1\" = list ] && cat \"${0%/*}/list.json\"\n");
    std::filesystem::permissions(harnesses / "lister", std::filesystem::perms::owner_all);
    const auto id = world.make_task();
    auto record = world.record(id);
    record.task.harness = "lister";
    world.house().world().tasks.save(record).value();
    world.move(id, "planning").value();
    const auto run = *world.record(id).run_of(Role::worker);
    const auto worktree = world.house().control().worktree_of(world.record(id)).string();
    const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(run.spawned_at.time_since_epoch()).count();
    write_file(harnesses / "list.json", dump(Json{{{"id", "ses_old"}, {"directory", worktree}, {"created", at - 9}},
                                                  {{"id", "ses_own"}, {"directory", worktree}, {"created", at + 9}}}));
    SECTION("it is known when the agent has called orange") {
        Caller agent;
        agent.role = Role::worker;
        agent.task = id;
        agent.run = run.run;
        world.house().go(world.house().control().learn_session(agent));
        REQUIRE(world.record(id).session_of(Role::worker));
        CHECK(world.record(id).session_of(Role::worker)->id == "ses_own");
    }
    SECTION("the agent died before that") {}

    world.kill_agent(id, Role::worker, 1);
    world.house().go(world.house().runner().exits.agent_exited(id, run.run));
    REQUIRE(world.house().go(world.house().runner().respawns.respawn(id, Caller{})));
    const auto& again = *world.record(id).run_of(Role::worker);
    CHECK(again.resumed);
    const auto folder = world.house().control().run_folder(world.record(id));
    CHECK_THAT(read_file(agents::Launcher::spec_file(folder, again.run)), Holds("\"-s\",\"ses_own\""));
    REQUIRE(world.record(id).outbox.size() == 1);
    const auto text = world.record(id).outbox.front().text;
    const auto begin = text.find(folder.string());
    REQUIRE(begin != std::string::npos);
    CHECK_THAT(read_file(text.substr(begin, text.find(' ', begin) - begin)), Holds("do it"));
}
