// Nothing is typed where there may be a dialog. A program's own events count more than its window.
#include <fstream>

#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/runner/agents/outbox.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

const std::string k_unknown_dialog = "A new version is there. Install it now?\n❯ Yes\n  No\n";

struct TypingWorld : RunnerWorld {
    TypingWorld() {
        define("plain", "");
        define("full_screen", "screen:\n  waiting: [\"Really?\"]\n  otherwise: idle\n");
        define("rests", "screen: {busy: [works], otherwise: idle}\n");
        define("prompts", "screen: {busy: [works], otherwise: idle, composer_empty: [❯]}\n");
        define("talks",
               "title: {busy: [⠂], idle: [✳]}\nscreen: {waiting: [\"Really?\"], composer_empty: [❯]}\nevents:\n  key: "
               "event\n"
               "  text: [text]\n  busy: [busy]\n  idle: [idle]\n  question: [question]\n  error: [error]\n"
               "usage_limit: {screen: [You've hit your], resets: [\"resets \"]}\n");
        const std::string screen = "screen: {busy: [works], otherwise: idle, composer_empty: [❯]}\n";
        const std::string events = "events:\n  busy: [busy]\n  idle: [idle]\n  question: [question]\n";
        define("asks", "title: {busy: [◐]}\n" + screen + events);
        define("omits", screen + events + "  screen_contradicts: true\n");
        define("prompts_and_talks", screen + events);
    }
    void define(const std::string& name, const std::string& more) {
        write_file(home() / ("harnesses/" + name + ".yml"),
                   "name: " + name + "\nprogram: true\nargv:\n  full: [--, \"{prompt}\"]\n" + more);
    }
    TaskId start(const std::string& harness) {
        const auto id = make_task("do it", 2);
        auto record = this->record(id);
        record.task.harness = record.task.review_harness = harness;
        house().world().tasks.save(record).value();
        move(id, "planning").value();
        outside.clock.pass(30s);
        return id;
    }
    void show(const TaskId& id, const std::string& screen) {
        outside.tmux.screens[record(id).run_of(Role::worker)->pane_id] = screen;
        look(id);
    }
    void title(const std::string& text) { outside.tmux.state.panes.at(0).title = text; }
    void say(const TaskId& id, const std::string& line) {
        const auto folder = house().control().run_folder(record(id));
        std::ofstream(agents::events_file(folder, record(id).run_of(Role::worker)->run), std::ios::app) << line << "\n";
        look(id);
    }
    void look(const TaskId& id) { house().go(house().runner().activities.update(id)); }
    void send(const TaskId& id, const std::string& text) {
        house().go(house().runner().outbox.send(id, Role::worker, text)).value();
    }
    bool deliver(const TaskId& id) { return orange::test::deliver(*this, id); }
    AgentActivity activity(const TaskId& id) { return *house().runner().activities.of(record(id), Role::worker); }
    std::string state(const TaskId& id) { return name_text(activity(id).activity); }
    Needs needs(const TaskId& id) { return needs_of(house().runner(), record(id)); }
    bool is_told(const TaskId& id) {
        return engine::find_notice(record(id), NoticeKind::message_undelivered) != nullptr;
    }
    std::size_t typed() const { return outside.tmux.state.sent.size(); }
    std::vector<std::string> waiting(const TaskId& id) {
        std::vector<std::string> texts;
        for (const auto& message : record(id).outbox) texts.push_back(message.text);
        return texts;
    }
};

}  // namespace

TEST_CASE("not one key reaches a window that shows an unknown dialog for ten minutes, and its human is told") {
    TypingWorld world;
    const std::string harness = GENERATE(as<std::string>(), "plain", "full_screen", "rests", "prompts");
    CAPTURE(harness);
    const auto id = world.start(harness);
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");  // and it never calls
    world.house().world().settings.message_patience = 0ms;
    world.show(id, k_unknown_dialog);
    CHECK(world.state(id) == "unknown");
    world.send(id, "go on");
    for (int minute = 0; minute < 10; ++minute) {
        world.outside.clock.pass(1min);
        world.look(id);
        world.house().go(world.house().runner().reconciler.settle(id));
        CHECK_FALSE(world.deliver(id));
    }
    CHECK(world.typed() == 0);
    CHECK(world.outside.tmux.escaped.empty());
    CHECK(world.is_told(id));
    CHECK(world.needs(id).kind == Need::help);
    CHECK_THAT(world.needs(id).text, Holds("go on"));
    CHECK(world.needs(id).command == task_command("attach", id.value));
}

TEST_CASE("an agent that was seen at work is reminded, and not in a dialog that has come up since") {
    TypingWorld world;
    const auto id = world.start("prompts");
    const auto attend = [&] {
        world.house().go(world.house().runner().reconciler.settle(id));
        for (int i = 0; i < 2; ++i) (void)world.deliver(id);
    };
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.house().world().settings.message_patience = 0ms;
    world.show(id, "works\n");
    world.show(id, "done\n❯\n");
    CHECK(world.state(id) == "idle");
    SECTION("the dialog came first") {
        world.show(id, "done\n" + k_unknown_dialog);
        world.outside.clock.pass(2min);
        attend();
        CHECK(world.typed() == 0);
        CHECK(world.needs(id).kind == Need::help);
        CHECK(world.needs(id).command == task_command("attach", id.value));
    }
    SECTION("there is none") {
        world.outside.clock.pass(2min);
        attend();
        REQUIRE(world.typed() == 1);
        CHECK_THAT(world.outside.tmux.state.sent[0].second, Holds("orange task update --status working"));
        CHECK(world.needs(id).kind == Need::nothing);
    }
}

TEST_CASE("a program without a known prompt is never typed to, and the next daemon still knows that it is idle") {
    TypingWorld world;
    const auto id = world.start("rests");
    world.show(id, "works\n");
    world.send(id, "one");
    world.show(id, "done\n");
    CHECK_FALSE(world.deliver(id));
    world.boot();
    world.look(id);
    CHECK(world.state(id) == "idle");
    CHECK_FALSE(world.deliver(id));
    CHECK(world.typed() == 0);
    CHECK_THAT(world.needs(id).text, Holds("names no prompt") && Holds("one"));
}

TEST_CASE("a human's task is not in need while a message waits for the end of a turn") {
    TypingWorld world;
    const auto id = world.start("rests");
    world.house().world().settings.message_patience = 0ms;
    world.show(id, "works\n");
    world.send(id, "go on");
    CHECK_FALSE(world.deliver(id));
    CHECK_FALSE(world.is_told(id));
    INFO(world.needs(id).text);
    CHECK(world.needs(id).kind == Need::nothing);
}

TEST_CASE("what Orange has to say to a worker whose definition has only argv is its human's to say") {
    TypingWorld world;
    const auto id = world.start("plain");
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.move(id, "working").value();
    world.append_body(id, "\n## Handoff\nDONE: all of it\n");
    world.move(id, "agent-review").value();
    world.append_body(id, "\n## Review\nVerdict: FAIL\nOnce more.\n");
    world.move(id, "working").value();
    CHECK_FALSE(world.deliver(id));
    CHECK(world.typed() == 0);
    REQUIRE(world.waiting(id).size() == 1);
    CHECK_THAT(world.waiting(id)[0], Holds("## Review"));
    CHECK(world.needs(id).kind == Need::help);
    CHECK_THAT(world.needs(id).text, Holds(world.waiting(id)[0]));
    CHECK(world.needs(id).command == task_command("attach", id.value));

    // The caller who has done it says so, and is not told again.
    world.house().go(world.house().runner().requests.acknowledge(id)).value();
    CHECK_FALSE(world.deliver(id));
    CHECK_FALSE(world.is_told(id));
    CHECK(world.needs(id).kind == Need::nothing);

    // The task gets further: that message is out of date.
    world.move(id, "stuck").value();
    CHECK_FALSE(world.deliver(id));
    REQUIRE(world.waiting(id).size() == 1);
    CHECK_THAT(world.waiting(id)[0], Holds("instructions-"));
    CHECK(world.typed() == 0);
}

TEST_CASE("what a program says about itself counts before title and screen") {
    TypingWorld world;
    const auto id = world.start("talks");
    world.show(id, "hello\n");
    CHECK(world.state(id) == "unknown");
    world.say(id, R"({"event":"busy"})");
    CHECK(world.state(id) == "busy");
    CHECK(world.activity(id).source == "events");
    world.send(id, "go on");
    CHECK(world.typed() == 0);
    world.say(id, R"({"event":"question","text":"Bash"})");
    CHECK(world.state(id) == "waiting");
    CHECK(world.activity(id).text == "Bash");
    CHECK(world.needs(id).kind == Need::answer);
    CHECK_FALSE(world.deliver(id));
    world.say(id, "nonsense");
    CHECK(world.state(id) == "waiting");
    world.say(id, "idle");
    CHECK(world.state(id) == "idle");
    CHECK(world.needs(id).kind == Need::nothing);
    CHECK_FALSE(world.deliver(id));  // an event alone is not enough
    world.show(id, "❯\n");
    world.outside.clock.pass(10s);
    CHECK(world.deliver(id));
    CHECK(world.typed() == 1);

    // The next daemon reads what was said.
    world.boot();
    world.look(id);
    CHECK(world.state(id) == "idle");
    CHECK(world.activity(id).source == "events");
}

TEST_CASE("nothing is typed to a program that said that it is idle while a known dialog is on its screen") {
    TypingWorld world;
    const auto id = world.start("talks");
    world.say(id, "idle");
    world.show(id, "Really?\n");
    world.send(id, "go on");
    CHECK(world.typed() == 0);
    world.outside.clock.pass(4s);
    world.look(id);
    CHECK(world.state(id) == "waiting");
    world.show(id, "❯\n");
    CHECK(world.state(id) == "idle");
    CHECK_FALSE(world.deliver(id));
    world.outside.clock.pass(10s);
    CHECK(world.deliver(id));
}

TEST_CASE("a limit that a program tells of holds back its harness, and another error only needs help") {
    TypingWorld world;
    const auto id = world.start("talks");
    world.say(id, "busy");
    SECTION("a usage limit") {
        world.say(id, R"x({"event":"error","text":"You've hit your session limit · resets 11:36am (UTC)"})x");
        CHECK(world.state(id) == "limited");
        REQUIRE(engine::find_notice(world.record(id), NoticeKind::usage_limit));
        REQUIRE(world.house().runner().usage.of("talks"));
        CHECK(to_rfc3339(world.house().runner().usage.of("talks")->until).starts_with("2026-11-20T11:36:0"));
    }
    SECTION("another error") {
        world.say(id, R"({"event":"error","text":"API Error: 500"})");
        CHECK(world.state(id) == "limited");
        CHECK_FALSE(world.house().runner().usage.of("talks"));
        world.send(id, "go on");
        CHECK(world.deliver(id));  // the program said that its turn has ended
    }
    CHECK(world.needs(id).kind == Need::help);
    world.say(id, "busy");
    CHECK(world.needs(id).kind == Need::nothing);
}

TEST_CASE("a turn whose end or beginning the program did not tell is seen by its title after a while") {
    TypingWorld world;
    const auto id = world.start("talks");
    world.title("⠂ session");
    world.say(id, "busy");
    world.title("✳ session");  // a human has pressed Escape
    world.look(id);
    CHECK(world.state(id) == "busy");
    world.outside.clock.pass(4s);
    world.look(id);
    CHECK(world.state(id) == "idle");
    CHECK(world.activity(id).source == "title");
    world.say(id, "idle");
    CHECK(world.activity(id).source == "events");
    world.title("⠂ session");  // a message that was in its queue
    world.look(id);
    world.outside.clock.pass(4s);
    world.look(id);
    CHECK(world.state(id) == "busy");
}

TEST_CASE("a turn that was interrupted, or ended in an error that was not told, is seen with the next look") {
    TypingWorld world;
    const auto id = world.start("talks");
    world.title("⠂ session");
    world.say(id, "busy");
    world.outside.clock.pass(1min);
    SECTION("Escape") {
        world.title("✳ session");
        world.look(id);
        CHECK(world.state(id) == "idle");
        CHECK_FALSE(world.house().runner().activities.is_in_doubt(world.record(id)));
    }
    SECTION("a failed API") {
        world.title("✳ session");
        world.show(id, "You've hit your limit\n");
        CHECK(world.state(id) == "limited");
    }
    SECTION("a dialog has to stand for a while: the screen may quote one") {
        world.show(id, "Really?\n");
        CHECK(world.state(id) == "busy");
        CHECK(world.house().runner().activities.is_in_doubt(world.record(id)));
        world.outside.clock.pass(3s);
        world.look(id);
        CHECK(world.state(id) == "waiting");
    }
}

TEST_CASE("an agent whose commands run in the background after its turn is not idle, and is not reminded") {
    TypingWorld world;
    world.define("waits",
                 "title: {busy: [⠂], idle: [✳]}\nscreen: {composer_empty: [❯]}\nevents:\n  key: event\n"
                 "  busy: [busy]\n  idle: [idle]\n  background: tasks\n");
    const auto id = world.start("waits");
    world.append_body(id, "\n## Plan\nAPPROACH: straight on\n");
    world.title("✳ session");
    world.say(id, R"({"event":"busy"})");
    world.show(id, "● Running\n❯\n");
    world.say(id, R"({"event":"idle","tasks":1})");
    const auto attend = [&] {
        for (int minute = 0; minute < 5; ++minute) {
            world.outside.clock.pass(1min);
            world.look(id);
            world.house().go(world.house().runner().reconciler.settle(id));
        }
        return world.record(id).reminder.has_value();
    };
    CHECK(world.state(id) == "busy");
    CHECK_FALSE(attend());
    CHECK(world.state(id) == "busy");
    world.say(id, R"({"event":"idle","tasks":0})");
    CHECK(world.state(id) == "idle");
    CHECK(attend());
}

TEST_CASE("the conversation that a program named last is continued, and none that was thrown away") {
    TypingWorld world;
    world.define("speaks",
                 "events:\n  key: event\n  busy: [busy]\n  idle: [idle]\n  session: id\n  transcript: file\n"
                 "session:\n  variable: NO_SUCH_VARIABLE\n  resume: [-s, \"{session}\"]\n");
    write_file(world.home() / "harnesses/speaks.yml",
               "name: speaks\nprogram: true\nargv:\n  full: [\"{session_args}\", --, \"{prompt}\"]\n" +
                   read_file(world.home() / "harnesses/speaks.yml")
                       .substr(read_file(world.home() / "harnesses/speaks.yml").find("events:")));
    const auto id = world.start("speaks");
    const auto run = world.record(id).run_of(Role::worker)->run;
    const auto transcript = world.home() / "two.jsonl";
    const auto line = [&](const std::string& name, const std::string& conversation, const Path& file) {
        return Json{{"event", name}, {"id", conversation}, {"file", file.string()}}.dump();
    };
    const auto die = [&] {
        world.kill_agent(id, Role::worker, 1);
        world.house().go(world.house().runner().exits.agent_exited(id, run));
        world.house().go(world.house().runner().respawns.respawn(id, Caller{})).value();
        return *world.record(id).run_of(Role::worker);
    };
    SECTION("it died before its first call to orange") {
        world.say(id, line("busy", "one", transcript));
        write_file(transcript, "{}\n");
        REQUIRE(world.record(id).session_of(Role::worker));
        CHECK(world.record(id).session_of(Role::worker)->transcript == transcript.string());
        const auto again = die();
        CHECK(again.resumed);
    }
    SECTION("what it named just before its end counts") {
        write_file(transcript, "{}\n");
        world.say(id, line("busy", "one", world.home() / "one.jsonl"));
        const auto folder = world.house().control().run_folder(world.record(id));
        std::ofstream(agents::events_file(folder, run), std::ios::app) << line("busy", "two", transcript) << "\n";
        const auto again = die();
        CHECK(again.resumed);
        CHECK_THAT(read_file(agents::Launcher::spec_file(folder, again.run)), Holds("\"-s\",\"two\""));
    }
    SECTION("nothing was said in the new conversation") {
        write_file(world.home() / "one.jsonl", "{}\n");
        world.say(id, line("busy", "one", world.home() / "one.jsonl"));
        world.say(id, line("begun", "two", transcript));
        CHECK_FALSE(die().resumed);
        CHECK(world.record(id).session_of(Role::worker) == nullptr);
    }
}

TEST_CASE("a conversation in the task's own folder is continued, also one that an older Orange has among the runs") {
    TypingWorld world;
    const std::string session =
        "session:\n  start: [-s, \"{talk_dir}/{session}\"]\n  resume: [-r, \"{talk_dir}/{session}\"]\n"
        "  file: \"{talk_dir}/{session}\"\n";
    write_file(world.home() / "harnesses/keeps.yml",
               "name: keeps\nprogram: true\nargv:\n  full: [\"{session_args}\", --, \"{prompt}\"]\n" + session);
    const auto id = world.start("keeps");
    const auto folder = world.house().control().run_folder(world.record(id));
    const auto talk = agents::Launcher::talk_folder(folder);
    CHECK(std::filesystem::is_directory(talk));
    REQUIRE(world.record(id).session_of(Role::worker));
    const auto conversation = world.record(id).session_of(Role::worker)->id;
    const auto die = [&] {
        const auto run = world.record(id).run_of(Role::worker)->run;
        world.kill_agent(id, Role::worker, 1);
        world.house().go(world.house().runner().exits.agent_exited(id, run));
        world.house().go(world.house().runner().respawns.respawn(id, Caller{})).value();
        return *world.record(id).run_of(Role::worker);
    };
    SECTION("there is none") {
        CHECK_FALSE(die().resumed);
    }
    SECTION("there is one") {
        write_file(talk / conversation, "{}\n");
        const auto again = die();
        CHECK(again.resumed);
        CHECK_THAT(read_file(agents::Launcher::spec_file(folder, again.run)),
                   Holds("\"-r\",\"" + (talk / conversation).string() + "\""));
    }
    SECTION("it is from an older Orange") {
        write_file(folder / conversation, "{}\n");
        CHECK(die().resumed);
        CHECK(read_file(talk / conversation) == "{}\n");
        CHECK_FALSE(std::filesystem::exists(folder / conversation));
    }
    SECTION("an agent has put something else in its place") {
        std::filesystem::create_symlink("/etc/passwd", talk / conversation);
        CHECK_FALSE(die().resumed);
    }
}

TEST_CASE("a dialog that was closed without an event is seen by the title and the prompt, and not without the prompt") {
    TypingWorld world;
    const auto id = world.start("asks");
    world.title("◐ session");
    world.say(id, "busy");
    world.say(id, "question");
    world.title("session");
    const auto shows_for_a_while = [&](const std::string& screen) {
        world.show(id, screen);
        world.outside.clock.pass(4s);
        world.look(id);
        return world.state(id);
    };
    CHECK(shows_for_a_while(k_unknown_dialog) == "waiting");
    CHECK(shows_for_a_while("❯\n") == "idle");
}

TEST_CASE("the screen contradicts the last event after a while if the definition says so") {
    TypingWorld world;
    const auto id = world.start("omits");
    const auto shows_for_a_while = [&](const std::string& screen) {
        world.show(id, screen);
        const auto at_first = world.state(id);
        world.outside.clock.pass(4s);
        world.look(id);
        return at_first + ", " + world.state(id);
    };
    world.show(id, "works\n");
    world.say(id, "busy");
    CHECK(shows_for_a_while("❯\n") == "busy, idle");  // a human has pressed Escape
    CHECK(world.activity(id).source == "screen");
    world.show(id, "works\n");
    world.say(id, "idle");
    CHECK(world.activity(id).source == "events");
    CHECK(shows_for_a_while("works\n") == "idle, busy");  // it waits for a command in the background
    world.say(id, "question");
    CHECK(shows_for_a_while(k_unknown_dialog) == "waiting, waiting");
    CHECK(shows_for_a_while("❯\n") == "idle, idle");

    const auto other = world.start("prompts_and_talks");
    world.show(other, "works\n");
    world.say(other, "busy");
    world.show(other, "❯\n");
    world.outside.clock.pass(4s);
    world.look(other);
    CHECK(world.state(other) == "busy");
}

TEST_CASE("the file of a run's events has its place in the command line, and goes with the run") {
    TypingWorld world;
    world.define("shown", "env: {EVENTS: \"{events}\"}\nevents: {busy: [busy], idle: [idle]}\n");
    const auto id = world.start("shown");
    const auto run = world.record(id).run_of(Role::worker)->run;
    const auto folder = world.house().control().run_folder(world.record(id));
    const auto file = agents::events_file(folder, run);
    const auto spec = parse_json(read_file(agents::Launcher::spec_file(folder, run))).value();
    CHECK(spec.at("env").at("EVENTS") == file.string());
    CHECK_THAT(spec.at("env").at("ORANGE_EVENT").get<std::string>(), Holds(file.string()));
    world.say(id, "busy");
    CHECK(std::filesystem::exists(file));
    world.kill_agent(id, Role::worker, 1);
    world.house().go(world.house().runner().exits.agent_exited(id, run));
    CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE(
    "a program with an inbox gets its messages there, whatever its window shows, and says when it has taken one") {
    TypingWorld world;
    world.define("reads_inbox", "delivery: inbox\nevents: {busy: [busy], idle: [idle]}\n");
    const auto id = world.start("reads_inbox");
    const auto folder = world.house().control().run_folder(world.record(id));
    const auto inbox = [&] {
        return read_file(agents::inbox_file(folder, world.record(id).run_of(Role::worker)->run));
    };
    const auto spec =
        parse_json(read_file(agents::Launcher::spec_file(folder, world.record(id).run_of(Role::worker)->run))).value();
    CHECK(spec.at("env").at("ORANGE_INBOX") ==
          agents::inbox_file(folder, world.record(id).run_of(Role::worker)->run).string());
    world.show(id, "> half a line\n");
    world.send(id, "go on");
    world.send(id, "and on");
    CHECK_FALSE(world.deliver(id));
    CHECK_FALSE(world.deliver(id));
    const auto first = world.record(id).outbox.front().id;
    CHECK(inbox() == dump(Json{{"id", first}, {"text", "[orange] The human says: go on."}}) + "\n");
    CHECK(world.typed() == 0);
    CHECK(world.waiting(id).size() == 2);

    SECTION("it takes the message") {
        world.say(id, R"({"event":"taken","id":"another"})");
        CHECK_FALSE(world.house().runner().outbox.may_be_seen(id));
        world.say(id, R"({"event":"taken","id":")" + first + "\"}");
        CHECK(world.house().runner().outbox.may_be_seen(id));
        CHECK_FALSE(world.deliver(id));  // the second one
        CHECK(world.record(id).typed.back().state() == "seen");
        REQUIRE(world.waiting(id).size() == 1);
        CHECK_THAT(inbox(), Holds("and on"));
    }
    SECTION("the next daemon does not add it again, and knows what was taken") {
        world.boot();
        CHECK_FALSE(world.deliver(id));
        CHECK(std::ranges::count(inbox(), '\n') == 1);
        world.say(id, R"({"event":"taken","id":")" + first + "\"}");
        world.boot();
        CHECK_FALSE(world.deliver(id));
        CHECK(world.waiting(id).size() == 1);
    }
    SECTION("it ends first: the next run gets the message") {
        const auto run = world.record(id).run_of(Role::worker)->run;
        world.kill_agent(id, Role::worker, 1);
        world.house().go(world.house().runner().exits.agent_exited(id, run));
        CHECK_FALSE(std::filesystem::exists(agents::inbox_file(folder, run)));
        if (!world.record(id).run_of(Role::worker)) {
            REQUIRE(world.house().go(world.house().runner().respawns.respawn(id, Caller{})));
        }
        CHECK_FALSE(world.deliver(id));
        CHECK_THAT(inbox(), Holds("go on"));
    }
}
