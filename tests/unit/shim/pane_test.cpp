// The shim in a real pane of a tmux server of the test.
#include <signal.h>

#include "daemon/tmux/cli_tmux.hpp"
#include "tests/catch.hpp"
#include "tests/unit/shim/shim_fixture.hpp"
#include "tests/unit/tmux/tmux_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

/// The shim in a real pane of a tmux server of its own.
struct PaneFixture : ShimFixture {
    PaneRef open(const RunSpec& spec) {
        WindowSpec window;
        window.session = "demo/b";
        window.window = "worker";
        window.argv = command(spec);
        auto pane = server.go(server.tmux.open(window));
        if (!pane) throw std::runtime_error(pane.error().message);
        return *pane;
    }
    void press(const PaneRef& pane, const std::string& key) { server.plain({"send-keys", "-t", pane.pane_id, key}); }
    std::string screen(const PaneRef& pane) { return server.go(server.tmux.capture(pane.pane_id, 100)).value(); }

    TmuxFixture server;
};

}  // namespace

TEST_CASE_METHOD(PaneFixture,
                 "in a pane the agent is in the foreground, reads what is typed, and its exit is recorded") {
    const auto pane = open(script("echo $$ > $OUT/pid; read line; echo got $line; exit 6"));
    const auto agent = pid_in("pid");
    CHECK(process::parent_of(agent) == pane.pid);
    CHECK(process::group_of(agent) == agent);
    REQUIRE(server.go(type(server.tmux, pane.pane_id, "hello.")));
    REQUIRE(ended());
    CHECK(exit_record().exit_status == 6);
    REQUIRE(eventually([&] { return server.state().panes.at(0).dead; }));
    CHECK_THAT(screen(pane), Holds("got hello."));
    CHECK_THAT(screen(pane), !Holds("orange-agent"));
}

TEST_CASE_METHOD(PaneFixture, "the agent gets the pane's TERM where its spec has none") {
    open(script("echo $TERM > $OUT/term"));
    REQUIRE(ended());
    CHECK(read_file(dir / "term") == "tmux-256color\n");
}

TEST_CASE_METHOD(PaneFixture, "Ctrl-Z does not wedge the pane") {
    const auto pane =
        open(script("echo $$ > $OUT/pid; while read line; do echo got $line; [ $line = end ] && exit 0; done"));
    pid_in("pid");
    press(pane, "C-z");
    REQUIRE(server.go(type(server.tmux, pane.pane_id, "one")));
    REQUIRE(eventually([&] { return screen(pane).find("got one") != std::string::npos; }));
    press(pane, "C-z");
    REQUIRE(server.go(type(server.tmux, pane.pane_id, "end")));
    REQUIRE(ended());
    CHECK(exit_record().exit_status == 0);
}

TEST_CASE_METHOD(PaneFixture, "Ctrl-C goes to the agent, not to the shim") {
    const auto pane =
        open(script("trap 'echo interrupted' INT; echo $$ > $OUT/pid; "
                    "while [ ! -e $OUT/stop ]; do sleep 0.05; done; exit 9"));
    pid_in("pid");
    press(pane, "C-c");
    REQUIRE(eventually([&] { return screen(pane).find("interrupted") != std::string::npos; }));
    write_file(dir / "stop", "");
    REQUIRE(ended());
    CHECK(exit_record().exit_status == 9);
}

TEST_CASE_METHOD(PaneFixture, "killing the session ends the agent and what it started, and still records", "[slow]") {
    const auto pane =
        open(script("setsid sh -c 'trap \"\" TERM HUP; echo $$ > $OUT/left; while :; do sleep 0.05; done' & "
                    "while [ ! -s $OUT/left ]; do sleep 0.02; done; echo $$ > $OUT/pid; sleep 600"));
    const auto agent = pid_in("pid"), left = pid_in("left");
    REQUIRE(server.go(server.tmux.kill(pane.session_id)));
    REQUIRE(ended());
    CHECK(exit_record().signal == SIGHUP);
    CHECK(soon_gone(pane.pid));
    CHECK(gone(agent));
    CHECK(gone(left));
}

TEST_CASE_METHOD(PaneFixture, "a tmux server that dies takes no record with it") {
    const auto pane = open(script("echo $$ > $OUT/pid; exec sleep 600"));
    const auto agent = pid_in("pid");
    server.end_server(pane.server_pid, SIGKILL);
    REQUIRE(ended());
    CHECK(exit_record().signal == SIGHUP);
    CHECK(soon_gone(agent));
    CHECK(soon_gone(pane.pid));
}

TEST_CASE_METHOD(PaneFixture, "a program that cannot be started says so in the pane") {
    auto spec = script("");
    spec.argv = {"no-such-agent"};
    const auto pane = open(spec);
    REQUIRE(ended());
    CHECK(exit_record().exit_status == 127);
    REQUIRE(eventually([&] { return server.state().panes.at(0).dead; }));
    CHECK_THAT(screen(pane), Holds("no-such-agent"));
}
