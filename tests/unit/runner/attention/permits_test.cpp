#include "daemon/runner/attention/permits.hpp"

#include "common/model/json.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/unit/runner/house.hpp"

/// Requests of agents' programs: who may ask, who may answer, and how they end.
using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

constexpr const char* k_asks =
    "name: asks\nprogram: true\nargv: {full: [--, \"{prompt}\"]}\n"
    "events:\n  busy: [busy]\n  idle: [idle]\n  question: [question]\n  text: [tool, input]\n"
    "permits:\n  tool: tool\n  input: input\n  done: [done]\n  allow: '{\"ok\":true}'\n"
    "  deny: '{\"ok\":false,\"why\":{message}}'\n  deadline: 55m\n"
    "screen: {waiting: [\"Really?\"], busy: [working]}\ntitle: {busy: [never]}\n";

struct Asked {
    Permits::Handle permit;
    std::optional<Result<std::string>> answer;
};

struct AskingWorld : RunnerWorld {
    AskingWorld() {
        write_file(home() / "harnesses/asks.yml", k_asks);
        auto hidden = std::string(k_asks);
        hidden.replace(hidden.find("asks"), 4, "hides");
        hidden.replace(hidden.find("permits:\n"), 9, "permits:\n  args: [--ask]\n");
        hidden.replace(hidden.find("full: [--"), 9, "full: [\"{event_args}\", --");
        hidden.replace(hidden.find("events:\n"), 8, "events:\n  args: [--tell]\n");
        write_file(home() / "harnesses/hides.yml", hidden);
        boot();
    }
    TaskId start(const std::string& harness = "asks") {
        const auto id = make_task("do it", 4);
        auto changed = record(id);
        changed.task.harness = harness;
        house().world().tasks.save(changed).value();
        move(id, "planning").value();
        look(id);
        return id;
    }
    const AgentRun& run(const TaskId& id) { return *record(id).run_of(Role::worker); }
    Caller worker(const TaskId& id) {
        Caller by;
        by.role = Role::worker;
        by.task = id;
        by.run = run(id).run;
        return by;
    }
    Caller human() {
        Caller by;
        by.evidence = "a terminal";
        return by;
    }
    /// What the program does: an event, and a hook that waits.
    Asked& ask(const TaskId& id, const std::string& key, const Json& input = {{"command", "make"}}, bool cut = false) {
        tell(id, {{"event", "question"}, {"tool", "Bash"}, {"input_hash", input.dump()}, {"ask", key}});
        auto& asked = asked_[key];
        const auto object = Json{{"tool", "Bash"}, {"input", input}}.dump();
        asked.permit = house().runner().permits.begin(worker(id), {key, object, cut}).value();
        house().begin(house().runner().permits.wait(id, asked.permit), asked.answer);
        look(id);
        return asked;
    }
    void tell(const TaskId& id, const Json& event) {
        const auto file = agents::events_file(house().control().run_folder(record(id)), run(id).run);
        const auto before = std::filesystem::exists(file) ? read_file(file) : std::string();
        write_file(file, before + event.dump() + "\n");
    }
    /// The command `make`, which most requests here ask for, was run.
    void tell_made(const TaskId& id) {
        tell(id, {{"event", "done"}, {"tool", "Bash"}, {"input_hash", R"({"command":"make"})"}});
    }
    void show(const TaskId& id, const std::string& screen) { outside.tmux.screens[run(id).pane_id] = screen; }
    void look(const TaskId& id) {
        for (int i = 0; i < 2; ++i) now(looked(id));  // the second time for what has ended meanwhile
    }
    /// Runs a coroutine to its end, while others still wait.
    template <class T>
    T now(Awaitable<T> coroutine) {
        std::optional<T> done;
        house().begin(std::move(coroutine), done);
        while (!done) {
            if (outside.fuse.struck()) throw fakes::Killed{};
            house().io.restart();
            house().io.run_one_for(1s);
        }
        return std::move(*done);
    }
    Awaitable<bool> exited(TaskId id, RunId of) {
        co_await house().runner().exits.agent_exited(id, of);
        co_await house().runner().activities.update(id);
        co_return true;
    }
    Awaitable<bool> looked(TaskId id) {
        co_await house().runner().activities.update(id);
        co_return true;
    }
    Result<Outcome> answer(const TaskId& id, std::int64_t number, bool allowed, const std::string& text = "") {
        auto done = now(house().runner().permits.answer(id, number, allowed, text, human()));
        look(id);
        return done;
    }
    Activity activity(const TaskId& id) { return house().runner().activities.of(record(id), Role::worker)->activity; }
    Needs needs(const TaskId& id) { return needs_of(house().runner(), record(id)); }
    std::string field(const HistoryEvent& event, const std::string& name) {
        const auto found = event.fields.find(name);
        return found == event.fields.end() ? "" : std::get<std::string>(found->second);
    }

    /// True if the hook of that request has printed that it is allowed.
    bool says_yes(const std::string& key) {
        const auto& answer = asked_[key].answer;
        return answer && *answer && answer->value() == R"({"ok":true})";
    }
    /// The hooks end with their daemon.
    void forget() { asked_.clear(); }

  private:
    std::map<std::string, Asked> asked_;
};

}  // namespace

TEST_CASE("A request is a need, and its human's answer reaches the hook, once") {
    AskingWorld world;
    const auto id = world.start();
    auto& asked = world.ask(id, "a");
    CHECK(world.needs(id).kind == Need::answer);
    CHECK(world.needs(id).permit == 1);
    CHECK_THAT(world.needs(id).text, Tells("asks") && Tells("Bash") && Tells("make"));
    CHECK(world.needs(id).command.text() == "orange allow " + id.value + ".1");
    CHECK(attention(world, id) == "none");  // one need for one dialog
    CHECK_FALSE(asked.answer);

    world.answer(id, 1, true).value();
    REQUIRE(asked.answer);
    CHECK(asked.answer->value() == R"({"ok":true})");
    CHECK(world.needs(id).permit == 0);
    CHECK(world.answer(id, 1, true).error().code == ErrorCode::conflict);
    CHECK(world.events(id, "permit.answered").empty());  // the window may have answered first
    CHECK(world.activity(id) == Activity::busy);

    world.tell_made(id);
    world.look(id);
    const auto told = world.events(id, "permit.answered");
    REQUIRE(told.size() == 1);
    CHECK(world.field(told[0], "decision") == "allow");
    CHECK(world.field(told[0], "by") == "human");
    CHECK(world.field(told[0], "request") == "make");
    CHECK(world.record(id).permits_answered.empty());
    CHECK(world.answer(id, 1, true).error().code == ErrorCode::not_found);
}

TEST_CASE("The text of a denial reaches the hook, and the next event confirms it") {
    AskingWorld world;
    const auto id = world.start();
    auto& asked = world.ask(id, "a");
    world.answer(id, 1, false, "use \"npm ci\"").value();
    CHECK(asked.answer->value() == R"({"ok":false,"why":"use \"npm ci\""})");
    world.outside.clock.pass(5s);  // its program tells nothing of a denial
    world.look(id);
    CHECK(world.activity(id) == Activity::busy);
    CHECK(attention(world, id) == "none");
    world.tell(id, {{"event", "idle"}});
    world.look(id);
    const auto told = world.events(id, "permit.answered");
    REQUIRE(told.size() == 1);
    CHECK(world.field(told[0], "decision") == "deny");
    CHECK(world.field(told[0], "text") == "use \"npm ci\"");

    auto& second = world.ask(id, "b");
    world.answer(id, 2, false).value();
    CHECK_THAT(second.answer->value(), Tells("denied"));
}

TEST_CASE("An answer that crosses the window's does not count") {
    AskingWorld world;
    const auto id = world.start();
    world.ask(id, "a");
    world.answer(id, 1, false, "no").value();
    world.tell_made(id);
    world.look(id);  // the window had said yes
    CHECK(world.events(id, "permit.answered").empty());
    CHECK(world.events(id, "permit.over").size() == 1);

    world.ask(id, "b", {{"command", "ls"}});
    world.answer(id, 2, true).value();
    world.tell(id, {{"event", "idle"}});
    world.look(id);  // the window had said no
    CHECK(world.events(id, "permit.answered").empty());
    CHECK(world.events(id, "permit.over").size() == 2);
    CHECK(world.record(id).permits_answered.empty());
}

TEST_CASE("What the window answers is over: by the call, by the end of the turn, or because the dialog has gone") {
    AskingWorld world;
    const auto id = world.start();
    auto& called = world.ask(id, "a");
    world.tell_made(id);
    world.look(id);
    REQUIRE(called.answer);
    CHECK(called.answer->value().empty());
    CHECK_THAT(world.field(world.events(id, "permit.over").at(0), "how"), Tells("window"));
    CHECK(world.answer(id, 1, true).error().code == ErrorCode::not_found);

    auto& ended = world.ask(id, "b");
    world.tell(id, {{"event", "idle"}});
    world.look(id);
    CHECK(ended.answer->value().empty());

    auto& gone = world.ask(id, "c");
    CHECK_FALSE(gone.answer);
    world.show(id, "Really?\n");
    world.look(id);
    CHECK_FALSE(gone.answer);
    world.show(id, "working\n");
    world.look(id);
    world.outside.clock.pass(5s);  // the screen contradicts the event for long enough
    world.look(id);
    REQUIRE(gone.answer);
    CHECK(gone.answer->value().empty());
    CHECK(world.needs(id).permit == 0);
}

TEST_CASE("Two requests at once are answered by their numbers") {
    AskingWorld world;
    const auto id = world.start();
    auto& first = world.ask(id, "a", {{"command", "make"}});
    auto& second = world.ask(id, "b", {{"command", "rm -rf ~"}});
    CHECK(world.needs(id).permit == 1);
    CHECK_THAT(world.needs(id).text, Holds("1 more"));
    world.answer(id, 2, false).value();
    CHECK_FALSE(first.answer);
    CHECK(second.answer);
    CHECK_THAT(world.answer(id, 3, true).error().message, Tells(".3") && Tells(".1"));
    CHECK(world.answer(id, 0, true).error().code == ErrorCode::not_found);
    world.answer(id, 1, true).value();
    CHECK(first.answer->value() == R"({"ok":true})");
}

TEST_CASE("A request that is not whole can be denied, not allowed") {
    AskingWorld world;
    const auto id = world.start();
    auto& asked = world.ask(id, "a", {{"command", "make"}}, true);
    CHECK(world.needs(id).command.text() == "orange task show " + id.value);
    CHECK(world.answer(id, 1, true).error().code == ErrorCode::forbidden);
    CHECK_FALSE(asked.answer);
    world.answer(id, 1, false).value();
    CHECK(asked.answer);
}

TEST_CASE("A hook that ends, a deadline and an agent that dies withdraw the request") {
    TestTime time;
    AskingWorld world;
    const auto id = world.start();
    auto& asked = world.ask(id, "a");
    Permits::end(asked.permit, "its hook has ended");
    world.look(id);
    CHECK(asked.answer->value().empty());
    CHECK(world.needs(id).permit == 0);

    auto& late = world.ask(id, "b");
    time.advance(45min);
    world.look(id);
    CHECK_FALSE(late.answer);
    CHECK(world.needs(id).permit == 2);
    time.advance(11min);
    for (int i = 0; i < 6000 && !late.answer; ++i) world.look(id);
    CHECK(late.answer->value().empty());
    CHECK_THAT(world.field(world.events(id, "permit.over").at(1), "how"), Tells("time"));

    auto& dead = world.ask(id, "c");
    world.ask(id, "d", {{"command", "ls"}});
    world.answer(id, 4, true).value();
    const auto of = world.run(id).run;
    world.kill_agent(id, Role::worker, 1);
    world.now(world.exited(id, of));
    CHECK(dead.answer->value().empty());
    CHECK(world.events(id, "permit.answered").empty());
    CHECK(world.events(id, "permit.over").size() == 4);
    CHECK(world.record(id).permits_answered.empty());
}

TEST_CASE("Only the run itself may ask, and what is no request is refused") {
    AskingWorld world;
    const auto id = world.start();
    auto& permits = world.house().runner().permits;
    const NewPermit fine{"k", R"({"tool":"Bash","input":{"command":"make"}})", false};
    auto by = world.worker(id);
    CHECK(permits.begin(world.human(), fine).error().code == ErrorCode::forbidden);
    by.run = {};
    CHECK(permits.begin(by, fine).error().code == ErrorCode::forbidden);
    by.run = RunId{"0123456789abcdef"};
    CHECK(permits.begin(by, fine).error().code == ErrorCode::forbidden);
    by = world.worker(id);
    CHECK(permits.begin(by, {"k", "[]", false}).error().code == ErrorCode::invalid_argument);
    CHECK(permits.begin(by, {"k", "\xff", false}).error().code == ErrorCode::invalid_argument);
    const auto silent = world.start("bot");
    CHECK(permits.begin(world.worker(silent), fine).error().code == ErrorCode::invalid_argument);
    CHECK(permits.of(id).empty());
    for (int i = 0; i < 16; ++i) permits.begin(by, fine).value();
    CHECK(permits.begin(by, fine).error().code == ErrorCode::conflict);
}

TEST_CASE("Where the window shows no dialog, whatever comes next confirms the answer") {
    AskingWorld world;
    const auto id = world.start("hides");
    auto& asked = world.ask(id, "a");
    world.answer(id, 1, true).value();
    CHECK(asked.answer->value() == R"({"ok":true})");
    world.tell(id, {{"event", "idle"}});  // codex tells nothing of a patch that it makes
    world.look(id);
    CHECK(world.events(id, "permit.answered").size() == 1);
}

TEST_CASE("A dialog without a hook says what it asks") {
    AskingWorld world;
    const auto id = world.start();
    world.tell(id, {{"event", "question"}, {"tool", "Bash"}, {"input", "npm install"}});
    world.look(id);
    CHECK_THAT(world.needs(id).text, Tells("Bash") && Holds("npm install"));
    CHECK_THAT(world.needs(id).command.text(), Tells("attach"));
    world.tell(id, {{"event", "busy"}});
    world.look(id);
    world.show(id, "Allow access to:\n  /etc/passwd\n Really?\n");
    world.look(id);
    world.outside.clock.pass(5s);
    world.look(id);
    CHECK_THAT(world.needs(id).text, Holds("/etc/passwd"));
    const auto since = world.needs(id).since;
    world.show(id, "Allow access to:\n  /etc/passwd \n> Really?\n");
    world.look(id);
    CHECK(world.needs(id).since == since);  // the same dialog, with a mark that moves
}

TEST_CASE("A daemon that is killed at any step says yes to nothing") {
    AskingWorld world;
    const auto id = world.start();
    world.keep();
    const auto act = [&] {
        auto& asked = world.ask(id, "a");
        (void)world.answer(id, 1, true);
        world.tell_made(id);
        world.look(id);
        return &asked;
    };
    world.outside.fuse.arm(fakes::Fuse::Ending::none, 0);
    act();
    const int steps = world.outside.fuse.steps();
    REQUIRE(steps > 3);
    for (int n = 1; n <= steps; ++n) {
        INFO("step " << n << " of " << steps);
        world.forget();
        world.back();
        world.boot();
        world.outside.fuse.arm(fakes::Fuse::Ending::killed, n);
        try {
            act();
        } catch (const fakes::Killed&) {
        }
        world.outside.fuse.disarm();
        if (world.says_yes("a")) CHECK(world.state_text(id).find("permits_answered") != std::string::npos);
        const bool was_saved = !world.record(id).permits_answered.empty();
        world.forget();
        world.boot();  // the hook's connection ended with the daemon
        world.recover();
        CHECK(world.needs(id).permit == 0);
        CHECK(world.record(id).permits_asked <= 1);
        CHECK(world.record(id).permits_answered.size() == (was_saved ? 1 : 0));
        world.tell(id, {{"event", "idle"}});
        world.look(id);
        CHECK(world.record(id).permits_answered.empty());
        CHECK(world.events(id, "permit.answered").size() <= 1);
        // The next request has another number, so that a late answer allows nothing.
        auto& next = world.ask(id, "b", {{"command", "rm -rf ~"}});
        const auto asked = world.record(id).permits_asked;
        if (asked == 2) CHECK_FALSE(world.answer(id, 1, true));
        CHECK_FALSE(next.answer);
        Permits::end(next.permit, "the test is over");
        world.look(id);
    }
}

TEST_CASE("A call that was denied and is asked for again is the second request") {
    AskingWorld world;
    const auto id = world.start();
    world.ask(id, "a");
    world.answer(id, 1, false).value();
    world.ask(id, "b");
    world.answer(id, 2, true).value();
    world.tell_made(id);
    world.look(id);
    const auto told = world.events(id, "permit.answered");
    REQUIRE(told.size() == 2);
    CHECK(world.field(told[0], "decision") == "deny");
    CHECK(world.field(told[1], "decision") == "allow");
    auto& third = world.ask(id, "c");
    world.tell_made(id);
    world.look(id);
    CHECK(third.answer->value().empty());  // the window has allowed it
}

TEST_CASE("What came before an answer confirms none") {
    AskingWorld world;
    const auto id = world.start();
    world.ask(id, "a");
    world.tell(id, {{"event", "done"}, {"tool", "Read"}, {"input_hash", "of another call"}});
    world.look(id);
    world.answer(id, 1, false).value();
    CHECK(world.events(id, "permit.answered").empty());
    world.tell(id, {{"event", "busy"}});
    world.look(id);
    CHECK(world.events(id, "permit.answered").size() == 1);
}

TEST_CASE("An event of a hook whose call comes raises no notice") {
    AskingWorld world;
    const auto id = world.start();
    world.tell(id, {{"event", "busy"}});
    world.look(id);
    world.tell(id, {{"event", "question"}, {"tool", "Bash"}, {"input_hash", "x"}, {"ask", "late"}});
    world.look(id);
    CHECK(attention(world, id) == "none");
    CHECK(world.house().runner().activities.is_due(world.record(id)));
    world.outside.clock.pass(5s);  // it was refused: the dialog is in the window
    world.look(id);
    CHECK_THAT(attention(world, id), Tells("attach"));
}
