// The moments when the monitor reads an agent's window (daemon/monitor/terminals).
#include "daemon/monitor/terminals.hpp"

#include "daemon/files/native_file_watcher.hpp"
#include "daemon/monitor/monitor.hpp"
#include "tests/catch.hpp"
#include "tests/support/advanced_time.hpp"
#include "tests/support/pseudo_terminal.hpp"
#include "tests/unit/runner/house.hpp"

using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

struct TerminalsWorld : RunnerWorld {
    TaskId start(const PseudoTerminal& terminal, const std::string& harness = {}) {
        const auto id = make_task();
        auto made = record(id);
        if (!harness.empty()) made.task.harness = harness;
        house().world().tasks.save(made).value();
        outside.processes.next = terminal.process();
        move(id, "planning").value();
        REQUIRE(record(id).run_of(Role::worker)->pid == terminal.process());
        return id;
    }
    int looks() { return outside.tmux.looks; }
    /// The kernel tells at once what was written; everything that follows from it has followed after ten seconds.
    int looks_after_a_while() {
        for (int i = 0; i < 100; ++i) {
            time.advance(100ms);
            until_ended([]() -> Awaitable<void> {
                const std::chrono::milliseconds moment = 1ms;
                co_await async::sleep(moment);
            }());
        }
        return looks();
    }
    /// The watcher never ends, so House::go() would not.
    void until_ended(Awaitable<void> coroutine) {
        bool ended = false;
        async::spawn(house().io.get_executor(), "ends", [](Awaitable<void> inner, bool& has) -> Awaitable<void> {
            co_await std::move(inner);
            has = true;
        }(std::move(coroutine), ended));
        house().io.restart();
        while (!ended) house().io.run_one();
    }

    TestTime time;
};

}  // namespace

TEST_CASE("an agent is looked at once it is quiet, and every three seconds if it never is") {
    Pacing pacing;
    const auto begin = Pacing::Time{} + 1h;
    CHECK_FALSE(pacing.due());
    pacing.wrote(begin);
    CHECK(pacing.due() == begin + 1s);
    pacing.wrote(begin + 2500ms);
    CHECK(pacing.due() == begin + 3s);
    pacing.wrote(begin + 3s);
    CHECK(pacing.due() == begin + 3s);
    pacing.looked();
    CHECK_FALSE(pacing.due());
    pacing.wrote(begin + 4s);
    CHECK(pacing.due() == begin + 5s);
}

TEST_CASE("an agent that writes is looked at, and one that writes nothing is left alone") {
    TerminalsWorld world;
    const PseudoTerminal terminal;
    const auto id = world.start(terminal);
    const auto watcher = native_file_watcher(world.house().io.get_executor()).value();
    Terminals terminals(world.house().runner(), *watcher);
    const int before = world.looks();

    terminals.follow(id);  // what it wrote before that is looked at, too
    CHECK(world.looks_after_a_while() == before + 1);
    terminals.follow(id);
    CHECK(world.looks_after_a_while() == before + 1);
    CHECK(terminals.is_quiet(id));
    terminal.write("Do you want to proceed?\r\n");
    CHECK(world.looks_after_a_while() == before + 2);
    terminal.write("\033]2;done\007");  // a title shows no text
    CHECK(world.looks_after_a_while() == before + 3);

    auto record = world.record(id);
    record.runs.clear();
    world.house().world().tasks.save(record).value();
    terminals.follow(id);
    terminal.write("after its run");
    CHECK(world.looks_after_a_while() == before + 3);
    terminals.stop();
}

TEST_CASE("an agent whose window contradicts its last event is looked at again, although it writes nothing") {
    TerminalsWorld world;
    write_file(
        world.home() / "harnesses/omits.yml",
        "name: omits\nprogram: true\nargv: {full: [--, \"{prompt}\"]}\nscreen: {busy: [works], otherwise: idle}\n"
        "events: {busy: [busy], idle: [idle], screen_contradicts: true}\n");
    const PseudoTerminal terminal;
    const auto id = world.start(terminal, "omits");
    const auto run = *world.record(id).run_of(Role::worker);
    write_file(agents::events_file(world.house().control().run_folder(world.record(id)), run.run), "busy\n");
    world.outside.tmux.screens[run.pane_id] = "Interrupted\n";
    const auto watcher = native_file_watcher(world.house().io.get_executor()).value();
    Terminals terminals(world.house().runner(), *watcher);
    const int before = world.looks();
    const auto activity = [&] {
        return world.house().runner().activities.of(world.record(id), Role::worker)->activity;
    };

    terminals.follow(id);
    CHECK(world.looks_after_a_while() > before + 1);
    CHECK(activity() == Activity::busy);
    world.outside.clock.pass(4s);
    const int decided = world.looks_after_a_while();
    CHECK(activity() == Activity::idle);
    CHECK(world.looks_after_a_while() == decided);
    terminals.stop();
}

TEST_CASE("the poll leaves a window alone that nothing was written to, but for one poll of ten", "[slow]") {
    TerminalsWorld world;
    const PseudoTerminal terminal;
    world.start(terminal);
    const auto watcher = native_file_watcher(world.house().io.get_executor()).value();
    Monitor monitor(world.house().runner(), *watcher);
    const auto poll = [&] { world.until_ended(monitor.poll()); };
    poll();
    const int before = world.looks_after_a_while();
    for (int i = 1; i < 10; ++i) poll();
    CHECK(world.looks() == before);
    poll();
    CHECK(world.looks() == before + 1);
    world.outside.clock.pass(5min);  // half of the time after which the human of a silent agent is told
    poll();
    CHECK(world.looks() == before + 2);
    monitor.stop();
}
