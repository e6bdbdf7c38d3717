#include "common/model/json.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/attention/notification.hpp"
#include "tests/catch.hpp"
#include "tests/unit/runner/house.hpp"

/// When the human is notified and when not, and how.
using namespace orange;
using namespace orange::test;

namespace {

Awaitable<void> nothing_more() {
    co_return;
}

struct WatchedWorld {
    WatchedWorld() {
        world.boot();
        watch();
    }
    ~WatchedWorld() { notifier.reset(); }

    void watch() {
        notifier = std::make_unique<Notifier>(
            world.house().runner(),
            [this](std::vector<News> news) -> Awaitable<void> {
                sent.push_back(std::move(news));
                co_return;
            },
            [this](std::function<void()> then) { later = std::move(then); });
        go_on_duty(world);
    }
    void next_daemon() {
        notifier.reset();
        later = nullptr;
        world.boot();
        watch();
        world.recover();
        settle();
    }
    void settle() { world.house().go(nothing_more()); }
    void two_seconds_pass() {
        if (auto then = std::exchange(later, nullptr)) then();
        settle();
    }
    /// Returns the number of notifications after all that was collected has been sent.
    std::size_t notifications() {
        two_seconds_pass();
        return sent.size();
    }
    TaskId started(const std::string& summary = "do it") { return planning(world, summary, 4); }
    void asks(const TaskId& id) {
        world.append_body(id, "\n## Questions\n- Lemons or limes?\n");
        world.move(id, "clarification", Role::worker).value();
    }
    TaskId asking(const std::string& summary = "do it") {
        const auto id = started(summary);
        asks(id);
        return id;
    }
    void review(const TaskId& id) {
        world.append_body(id, "\n## Plan\nAPPROACH: straight on\nTOUCHING: all\n");
        world.move(id, "working", Role::worker).value();
        world.append_body(id, "\n## Handoff\nDONE: all of it\n");
        world.move(id, "agent-review", Role::worker).value();
    }
    void dies(const TaskId& id, Role role = Role::worker) {
        world.kill_agent(id, role, 1);
        const auto run = world.record(id).run_of(role)->run;
        world.house().go(world.house().runner().exits.agent_exited(id, run));
    }
    std::string short_id(const TaskId& id) { return world.house().world().tasks.short_id(id); }
    void attach(const TaskId& id) {
        world.outside.tmux.state.clients = {{"/dev/pts/7", world.record(id).task.tmux_session.value()}};
    }

    RunnerWorld world;
    std::vector<std::vector<News>> sent;
    std::function<void()> later;
    std::unique_ptr<Notifier> notifier;
};

News news_of(const std::string& task, Need need, const std::string& text) {
    return {TaskId{task}, "shop", "Sell \"lemons\"", need, text, {}};
}

/// A program that writes its arguments, one a line, to a file beside it.
std::string program(RunnerWorld& world, const std::string& name, const std::string& rest = "") {
    const auto file = world.programs() / name;
    write_file(file, "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"${0%/*}/" + name + ".told\"\n" + rest + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
}

std::string told(RunnerWorld& world, const std::string& name) {
    const auto file = world.programs() / (name + ".told");
    return std::filesystem::exists(file) ? read_file(file) : "nothing";
}

void deliver(RunnerWorld& world, Delivery& delivery, std::vector<News> news) {
    world.house().go(delivery.deliver(std::move(news), "{}\n"));
}

}  // namespace

TEST_CASE("A task that works is no news, and one that is ready for review is told once") {
    WatchedWorld w;
    const auto id = w.started();
    w.review(id);
    CHECK(w.notifications() == 0);
    CHECK(w.world.outside.tmux.asked_for_clients == 0);
    w.world.append_body(id, "\n## Review\nVerdict: PASS\n");
    w.world.move(id, "reviewing", Role::reviewer).value();
    REQUIRE(w.notifications() == 1);
    REQUIRE(w.sent[0].size() == 1);
    CHECK(w.sent[0][0].task == id);
    CHECK(w.sent[0][0].need == Need::review);
    CHECK_THAT(w.sent[0][0].text, Tells("orange task diff " + w.short_id(id)));
    // The sentence of the workflow's own notify action.
    const auto event = w.world.events(id, "notification").at(0);
    CHECK_THAT(w.sent[0][0].text, Holds(std::get<std::string>(event.fields.at("message"))));
    CHECK(w.notifications() == 1);
}

TEST_CASE("A task that is created for its review is told once, whatever is changed of it later") {
    WatchedWorld w;
    auto record = w.world.draft();
    record.start = "reviewing";
    w.world.create(record, "", false).value();
    REQUIRE(w.notifications() == 1);
    CHECK(w.sent[0][0].need == Need::review);
    Edit edit;
    edit.summary = "two";
    w.world.house().go(w.world.house().runner().requests.edit(record.task.id, edit, Caller{})).value();
    w.next_daemon();
    CHECK(w.notifications() == 1);
}

TEST_CASE("A question is told, and the next one again") {
    WatchedWorld w;
    const auto id = w.asking();
    REQUIRE(w.notifications() == 1);
    CHECK(w.sent[0][0].need == Need::answer);
    CHECK_THAT(w.sent[0][0].text, Holds("Lemons or limes?") && Tells("orange task reply " + w.short_id(id)));
    w.world.move(id, "planning", Role::worker).value();
    w.asks(id);
    CHECK(w.notifications() == 2);
}

TEST_CASE("A crash is told if Orange does not repair it itself") {
    WatchedWorld w;
    const auto id = w.started();
    SECTION("of a worker, and once more when it is stuck") {
        w.dies(id);
        REQUIRE(w.notifications() == 1);
        CHECK(w.sent[0][0].need == Need::help);
        CHECK_THAT(w.sent[0][0].text, Tells("orange task respawn " + w.short_id(id)));
        w.world.house().go(w.world.house().runner().respawns.respawn(id, Caller{})).value();
        CHECK(w.notifications() == 1);
        w.dies(id);
        REQUIRE(w.world.record(id).task.status == "stuck");
        REQUIRE(w.notifications() == 2);
        CHECK(w.sent[1][0].need == Need::help);
    }
    SECTION("of a reviewer, which is started again") {
        w.review(id);
        w.dies(id, Role::reviewer);
        REQUIRE(w.world.house().control().alive(w.world.record(id), Role::reviewer));
        CHECK(w.world.events(id, "agent.crashed").size() == 1);
        CHECK(w.notifications() == 0);
    }
    SECTION("of a reviewer that cannot be started again") {
        w.review(id);
        w.world.outside.tmux.open_fails = Error(ErrorCode::external_failed, "no server");
        w.dies(id, Role::reviewer);
        REQUIRE(w.notifications() == 1);
        CHECK(w.sent[0][0].need == Need::help);
    }
    SECTION("its tmux server ends") {
        w.world.outside.processes.alive.clear();
        w.world.outside.tmux.state.panes.clear();
        w.world.outside.tmux.state.server_pid = 4711;
        const auto run = w.world.record(id).run_of(Role::worker)->run;
        w.world.house().go(w.world.house().runner().exits.agent_exited(id, run));
        REQUIRE(w.notifications() == 1);
        CHECK(w.sent[0][0].need == Need::help);
    }
}

TEST_CASE("A task that needs help while it waits for an answer is told again") {
    WatchedWorld w;
    const auto id = w.asking();
    w.two_seconds_pass();
    auto record = w.world.record(id);
    engine::raise(record, {NoticeKind::hook_failed, "push_branch: no", "", "", w.world.outside.clock.now()});
    w.world.house().world().tasks.save(record).value();
    w.settle();
    REQUIRE(w.notifications() == 2);
    CHECK(w.sent[1][0].need == Need::help);
    SECTION("and not when only the help is over") {
        w.world.house().go(w.world.house().runner().requests.acknowledge(id)).value();
        CHECK(w.notifications() == 2);
    }
}

TEST_CASE("A task that only has to be started is never told") {
    WatchedWorld w;
    w.world.make_task("waits", 4);
    const auto id = w.started();
    w.world.house().go(w.world.house().runner().respawns.stop(id)).value();
    CHECK(w.notifications() == 0);
}

TEST_CASE("The next daemon does not repeat what was told, and tells what was not") {
    WatchedWorld w;
    const auto id = w.asking();
    REQUIRE(w.notifications() == 1);
    SECTION("told") {
        w.next_daemon();
        CHECK(w.notifications() == 1);
        w.next_daemon();
        CHECK(w.notifications() == 1);
    }
    SECTION("another one was still waiting to be told") {
        const auto other = w.asking("other");
        REQUIRE(w.sent.size() == 1);
        w.next_daemon();
        REQUIRE(w.notifications() == 2);
        REQUIRE(w.sent[1].size() == 1);
        CHECK(w.sent[1][0].task == other);
    }
    SECTION("its agent died while no daemon ran") {
        const auto other = w.started("other");
        w.world.outside.tmux.open_fails = Error(ErrorCode::external_failed, "no server");
        w.world.kill_agent(other, Role::worker, 1);
        w.next_daemon();
        REQUIRE(w.notifications() == 2);
        CHECK(w.sent[1][0].need == Need::help);
    }
}

TEST_CASE("What comes within two seconds is told in one notification") {
    WatchedWorld w;
    const auto first = w.asking("first"), second = w.asking("second");
    CHECK(w.sent.empty());
    SECTION("all of it") {
        REQUIRE(w.notifications() == 1);
        REQUIRE(w.sent[0].size() == 2);
        CHECK(w.sent[0][0].task == first);
        CHECK(w.sent[0][1].task == second);
        w.asking("third");
        CHECK(w.notifications() == 2);
    }
    SECTION("but not what its human has dealt with by then") {
        w.world.move(first, "planning").value();
        REQUIRE(w.notifications() == 1);
        REQUIRE(w.sent[0].size() == 1);
        CHECK(w.sent[0][0].task == second);
    }
    SECTION("nor a task that is gone") {
        w.world.move(first, "cancelled").value();
        w.world.house().go(w.world.house().runner().requests.remove(first, Caller{}, false)).value();
        REQUIRE(w.notifications() == 1);
        CHECK(w.sent[0].size() == 1);
    }
}

TEST_CASE("Agents that die together are one notification, and a question does not wait for it") {
    WatchedWorld w;
    const auto first = w.started("first"), second = w.started("second"), asks = w.started("asks");
    w.dies(first);
    w.asks(asks);
    // The time passes while the end of the second one is dealt with: once, or so often that it is waited for no longer.
    const int times = GENERATE(1, 20);
    int passed = 0;
    w.world.outside.tmux.looked = [&] {
        for (; passed < times; ++passed) std::exchange(w.later, [] {})();
    };
    w.dies(second);
    w.two_seconds_pass();
    REQUIRE(w.sent.size() == (times == 1 ? 2 : 3));
    REQUIRE(w.sent[0].size() == 1);
    CHECK(w.sent[0][0].task == asks);
    CHECK(w.sent[1].size() == (times == 1 ? 2 : 1));
    CHECK(w.sent[1].front().task == first);
    CHECK(w.sent.back().back().task == second);
}

TEST_CASE("News that was collected is sent although its task is being merged when it is sent") {
    WatchedWorld w;
    const auto id = w.asking();
    auto record = w.world.record(id);
    record.merge = MergeRecord{};
    w.world.house().world().tasks.save(record).value();
    REQUIRE(w.notifications() == 1);
    CHECK(w.sent[0].front().task == id);
}

TEST_CASE("A person who is attached to the task is not told of it") {
    WatchedWorld w;
    const auto id = w.started();
    w.attach(id);
    w.asks(id);
    CHECK(w.notifications() == 0);
    CHECK(w.world.outside.tmux.asked_for_clients == 1);
    // Nor later, and another task's news is not held up.
    const auto other = w.asking("other");
    REQUIRE(w.notifications() == 1);
    REQUIRE(w.sent[0].size() == 1);
    CHECK(w.sent[0][0].task == other);
    w.world.outside.tmux.state.clients.clear();
    w.next_daemon();
    CHECK(w.notifications() == 1);
}

TEST_CASE("A notify action is told even if the task needs nothing") {
    WatchedWorld w;
    std::filesystem::create_directories(w.world.home() / "workflows");
    write_file(w.world.home() / "workflows/loud.yml",
               "name: loud\nversion: 1\nstates:\n  pending: {}\n  working: {needs: nothing}\n  done: {terminal: true}\n"
               "transitions:\n"
               "  - from: pending\n    to: working\n    hooks:\n      - {action: notify, message: has begun}\n"
               "  - from: working\n    to: done\n");
    const auto id = w.world.make_task("do it", 1, "loud");
    w.world.move(id, "working").value();
    REQUIRE(w.notifications() == 1);
    REQUIRE(w.sent[0].size() == 1);
    CHECK(w.sent[0][0].need == Need::nothing);
    CHECK_THAT(w.sent[0][0].text, Catch::StartsWith("shop: do it: has begun"));
    CHECK_FALSE(w.world.record(id).to_tell);
    w.next_daemon();
    CHECK(w.notifications() == 1);
}

TEST_CASE(
    "A notify action is told although the daemon ends before it is sent, or the task needs something else by then") {
    WatchedWorld w;
    const auto id = w.asking();
    const auto said = w.world.record(id).to_tell.value();
    const auto first = [&] { return w.sent.at(0).at(0).said; };
    SECTION("the daemon is killed") {
        w.next_daemon();
        REQUIRE(w.notifications() == 1);
        CHECK(first() == said);
    }
    SECTION("the daemon stops") {
        CHECK_FALSE(w.notifier->is_idle());
        w.world.house().go(w.notifier->send_waiting());
        CHECK(w.notifier->is_idle());
        REQUIRE(w.sent.size() == 1);
        CHECK(first() == said);
        w.next_daemon();
        CHECK(w.notifications() == 1);
    }
    SECTION("it needs help") {
        w.dies(id);
        REQUIRE(w.notifications() == 1);
        CHECK(first() == said);
    }
}

TEST_CASE("The command of config.yml gets the text as one harmless word, or as its placeholders say") {
    RunnerWorld world;
    world.boot();
    Delivery delivery(world.house().world());
    auto& command = world.house().world().settings.notify_command;
    const auto one = news_of("4f2a", Need::review, "shop/b: looks good; $(reboot) \"now\"");
    const auto file = program(world, "tell");
    SECTION("appended") {
        command = {file, "--fast"};
        deliver(world, delivery, {one});
        CHECK(told(world, "tell") == "--fast\n" + one.text + "\n");
    }
    SECTION("in words") {
        command = {file, "{needs}: {task} of {project}", "{summary}", "{other} {", R"({"text":"{text}"})"};
        deliver(world, delivery, {one});
        CHECK(told(world, "tell") ==
              "review: 4f2a of shop\nSell \"lemons\"\n{other} {\n" + dump(Json{{"text", one.text}}) + "\n");
    }
    SECTION("of several tasks") {
        command = {file, "{needs}", "{task}", "{project}", "{text}"};
        deliver(world, delivery, {one, news_of("9c3b", Need::help, "shop/c: crashed")});
        CHECK_THAT(told(world, "tell"), Catch::StartsWith("help\n4f2a, 9c3b\nshop\n"));
        CHECK_THAT(told(world, "tell"), Holds(one.text) && Holds("shop/c: crashed"));
    }
    SECTION("of so many tasks that nobody reads all of their texts") {
        std::vector<News> many;
        for (int n = 0; n < 1'000; ++n) {
            many.push_back(news_of("4f2a", Need::help, std::to_string(n) + std::string(280, 'x')));
        }
        many.push_back(news_of("9c3b", Need::answer, "shop/c: it asks"));
        command = {file, "{text}"};
        deliver(world, delivery, many);
        const auto text = told(world, "tell");
        CHECK(std::ranges::count(text, '\n') == 5);
        CHECK_THAT(text, Holds(many[0].text + "\n") && Tells("1001") && Tells("998"));
        CHECK_THAT(text, Holds("shop/c: it asks\n"));
    }
    SECTION("of as many tasks as there are lines") {
        const std::vector<News> four(4, one);
        command = {file, "{text}"};
        deliver(world, delivery, four);
        CHECK_THAT(told(world, "tell"), Catch::EndsWith("\n" + one.text + "\n" + one.text + "\n"));
    }
    SECTION("off") {
        world.house().world().settings.notify = false;
        command = {file};
        deliver(world, delivery, {one});
        CHECK(told(world, "tell") == "nothing");
    }
    CHECK(delivery.problem().empty());
}

TEST_CASE("A notification that fails is kept for doctor until one succeeds") {
    RunnerWorld world;
    world.boot();
    Delivery delivery(world.house().world());
    auto& command = world.house().world().settings.notify_command;
    const auto one = news_of("4f2a", Need::review, "shop/b: look");
    command = {program(world, "fails", "echo no lemons >&2\nexit 3")};
    deliver(world, delivery, {one});
    CHECK_THAT(delivery.problem(), Tells("config.yml") && Holds("no lemons") && !Holds(one.text));
    command = {"/nonexistent/program"};
    deliver(world, delivery, {one});
    CHECK_THAT(delivery.problem(), Holds("/nonexistent/program"));
    command = {program(world, "works")};
    deliver(world, delivery, {one});
    CHECK(delivery.problem().empty());
}

TEST_CASE("Without a command the desktop is told if there is one, and every attached terminal") {
    RunnerWorld world;
    world.boot();
    Delivery delivery(world.house().world());
    auto& environment = world.house().world().base_environment;
    environment["PATH"] = world.programs().string();
    environment.erase("DBUS_SESSION_BUS_ADDRESS");
    environment.erase("XDG_RUNTIME_DIR");
    world.outside.tmux.state.clients = {{"/dev/pts/7", "shop/a"}, {"/dev/pts/8", "shop/b"}};
    program(world, "notify-send");
    const auto one = news_of("4f2a", Need::review, "shop/b: <b> & look");
    SECTION("no desktop") {
        deliver(world, delivery, {one});
        CHECK(told(world, "notify-send") == "nothing");
        CHECK_THAT(delivery.why_unheard(), Tells("notify") && Tells("config.yml"));
        world.house().world().settings.notify = false;
        CHECK(delivery.why_unheard().empty());
        world.house().world().settings.notify = true;
        world.house().world().settings.notify_command = {"mine"};
        CHECK(delivery.why_unheard().empty());
    }
    SECTION("a session bus") {
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/run/bus";
        CHECK(delivery.why_unheard().empty());
        deliver(world, delivery, {one});
        CHECK_THAT(told(world, "notify-send"), Catch::EndsWith("shop/b: &lt;b> &amp; look\n"));
    }
    SECTION("the bus of the user's runtime folder") {
        environment["XDG_RUNTIME_DIR"] = world.programs().string();
        write_file(world.programs() / "bus", "");
        deliver(world, delivery, {one});
        CHECK(told(world, "notify-send") != "nothing");
    }
    SECTION("macOS") {
        program(world, "osascript");
        deliver(world, delivery, {one});
        CHECK_THAT(told(world, "osascript"), Catch::EndsWith(one.text + "\n"));
    }
    CHECK(delivery.problem().empty());
    CHECK(world.outside.tmux.state.told ==
          std::vector<std::pair<std::string, std::string>>{{"/dev/pts/7", one.text}, {"/dev/pts/8", one.text}});
}
