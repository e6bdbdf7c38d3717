#include "daemon/monitor/terminals.hpp"

#include "daemon/files/native_file_watcher.hpp"
#include "tests/catch.hpp"
#include "tests/support/pseudo_terminal.hpp"
#include "tests/unit/runner/house.hpp"

/// When the runner looks at an agent: the kernel tells that the agent wrote to its terminal.
using namespace orange;
using namespace orange::test;

namespace {

using namespace std::chrono_literals;

struct TerminalsWorld : RunnerWorld {
    TaskId start(const PseudoTerminal& terminal) {
        const auto id = make_task();
        outside.processes.next = terminal.process();
        move(id, "planning").value();
        REQUIRE(record(id).run_of(Role::worker)->pid == terminal.process());
        return id;
    }
    int looks() { return outside.tmux.looks; }
    bool comes_to_look(int count) {
        for (const auto end = std::chrono::steady_clock::now() + 10s;
             looks() < count && std::chrono::steady_clock::now() < end;) {
            pass(50ms);
        }
        return looks() == count;
    }
    void pass(std::chrono::milliseconds time) {
        house().io.restart();
        house().io.run_for(time);
    }
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

TEST_CASE("an agent that writes is looked at, and one that writes nothing is left alone", "[slow]") {
    TerminalsWorld world;
    const PseudoTerminal terminal;
    const auto id = world.start(terminal);
    const auto watcher = native_file_watcher(world.house().io.get_executor()).value();
    Terminals terminals(world.house().runner(), *watcher);
    const int before = world.looks();

    terminals.follow(id);  // what it wrote before that is looked at, too
    CHECK(world.comes_to_look(before + 1));
    terminals.follow(id);
    world.pass(2500ms);
    CHECK(world.looks() == before + 1);
    terminal.write("Do you want to proceed?\r\n");
    CHECK(world.comes_to_look(before + 2));
    terminal.write("\033]2;done\007");  // a title shows no text
    CHECK(world.comes_to_look(before + 3));

    auto record = world.record(id);
    record.runs.clear();
    world.house().world().tasks.save(record).value();
    terminals.follow(id);
    terminal.write("after its run");
    world.pass(2500ms);
    CHECK(world.looks() == before + 3);
    terminals.stop();
}
