// The dashboard over several hosts, through real sshds: what a silent host, a broken link and a killed daemon do to it.
#include <signal.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/facts.hpp"
#include "tests/integration/hosts.hpp"
#include "tests/integration/stage.hpp"

using namespace orange;
using namespace orange::tests;

namespace {

/// This machine, and the hosts box and gpu behind an sshd each.
struct ThreeMachines {
    ThreeMachines() : other(desk.here, desk.here.root() / "other-sshd") {
        desk.reach("gpu", other);
        repository = desk.here.add_project("shop");
        box.add_project("shop");
        gpu.add_project("shop");
        mine = desk.here.create("shop", "Mine", true);
        asking = box.create("shop", "Theirs demo:clarify");
        box.wait_for_status(asking, "clarification");
        far = gpu.create("shop", "Far", true);
        desk.add("box", program_of(box), {}, "60");
        desk.add("gpu", program_of(gpu), {}, "60");
    }
    std::string command() const { return "env " + desk.path() + " orange-dashboard --everywhere"; }

    HostsDesk desk;
    Sandbox box, gpu;
    Sshd other;
    std::filesystem::path repository;
    std::string mine, asking, far;
};

/// Selects the one task whose row has that text.
void select_task(Stage& stage, const std::string& text) {
    stage.press({"/"});
    stage.letters(text);
    stage.press({"Enter"});
    stage.wait_for("1 of ");
}

}  // namespace

TEST_CASE("The tasks of three machines are on one screen, and a key works where the task is", "[terminals-of-sshd]") {
    ThreeMachines machines;
    Stage stage(machines.desk.here, machines.repository, 120, 40);
    stage.start("NEEDS YOU 1", machines.command());
    for (const auto* text : {"Mine", "Theirs", "Far", "box", "gpu"}) stage.wait_for(text);
    select_task(stage, "theirs");
    stage.press({"a"});
    stage.letters("Half up");
    stage.press({"Enter"});
    stage.wait_for("answered");
    machines.box.eventually("the answer has arrived",
                            [&] { return machines.box.status(machines.asking) != "clarification"; });
    // An event there is shown here.
    stage.press({"/"});
    stage.press({"Escape"});
    machines.gpu.create("shop", "One more", true);
    stage.wait_for("One more");
    // Enter opens the terminal of an agent there, and the dashboard is as it was before.
    const auto talking = machines.box.create("shop", "Ask something demo:clarify");
    machines.box.wait_for_status(talking, "clarification");
    select_task(stage, "something");
    stage.press({"Enter"});
    stage.wait_for("Ctrl-q leaves");
    CHECK(stage.traced("run ") == 1);
    CHECK_THAT(read_file(stage.trace()), Holds("task attach box:" + talking));
    stage.screen({"send-keys", "-t", "stage:", "C-q"});
    stage.wait_for("1 of ");
    stage.press({"x"});
    stage.wait_for("y yes");
    stage.press({"y"});
    stage.wait_for("cancelled");
    machines.box.eventually("the cancellation is in the history", [&] {
        return machines.box.history(talking, "status.changed").back().at("to") == "cancelled";
    });
    CHECK(machines.box.history(talking, "status.changed").back().at("evidence") == "ssh from 127.0.0.1");
    stage.press({"q"});
    stage.wait_for("status 0");
}

TEST_CASE("A host that stands still dims its rows, answers a key at once, and goes on where it was") {
    ThreeMachines machines;
    Stage stage(machines.desk.here, machines.repository, 120, 40);
    stage.start("NEEDS YOU 1", machines.command());
    stage.wait_for("Far");
    select_task(stage, "far");
    // Link stopped: the sshd of gpu and what serves its connection.
    REQUIRE(::kill(machines.other.pid(), SIGSTOP) == 0);
    machines.other.signal(SIGSTOP);
    stage.wait_for("gpu does not answer");
    const auto pressed = stage.press_all({"x", "d", "Enter"});
    for (const auto& each : pressed) {
        CHECK(each.requests.empty());
        CHECK(each.programs.empty());
        CHECK(each.shows == "error");
    }
    // Another host is as before.
    stage.press({"Escape", "Escape"});
    select_task(stage, "theirs");
    stage.press({"x"});
    stage.wait_for("Cancel ");
    stage.press({"n"});
    machines.other.signal(SIGCONT);
    REQUIRE(::kill(machines.other.pid(), SIGCONT) == 0);
    stage.wait_without("gpu does not answer");
    stage.press({"Escape", "/"});
    stage.press({"Escape"});
    machines.gpu.create("shop", "One more", true);
    stage.wait_for("One more");
    CHECK(count_tasks(machines.gpu) == 2);
}

TEST_CASE("Links that break, sshds and daemons that are killed leave each task there once") {
    ThreeMachines machines;
    Stage stage(machines.desk.here, machines.repository, 120, 40);
    stage.start("NEEDS YOU 1", machines.command());
    stage.wait_for("Theirs");
    const auto run = machines.box.run_of(machines.asking, "worker");
    for (int round = 0; round < 3; ++round) {
        INFO("round " << round);
        const auto links = stage.traced("link 1 1");
        if (round == 2) {
            machines.box.kill_daemon();
        } else {
            machines.desk.sshd.signal(round == 0 ? SIGSTOP : SIGKILL);
        }
        // Keys of this machine's tasks work meanwhile.
        select_task(stage, "mine");
        stage.press({"Escape"});
        if (round == 0) stage.wait_for("box does not answer");
        if (round == 0) machines.desk.sshd.signal(SIGKILL);
        if (round == 2) machines.box.start_daemon();
        machines.box.eventually("it is connected again", [&] { return stage.traced("link 1 1") > links; });
        const auto summary = "Round " + std::to_string(round);
        machines.box.create("shop", summary, true);
        stage.wait_for(summary);
    }
    CHECK(count_tasks(machines.box) == 4);
    CHECK(count_tasks(machines.desk.here) == 1);
    CHECK(machines.box.run_of(machines.asking, "worker").at("run") == run.at("run"));
}

TEST_CASE("A host that is away when the dashboard starts is shown as of its last answer") {
    ThreeMachines machines;
    const auto list = Json::parse(machines.desk.out_of({"task", "list", "--everywhere", "--json"}));
    CHECK(list.at("tasks").size() == 3);
    REQUIRE(::kill(machines.other.pid(), SIGSTOP) == 0);
    Stage stage(machines.desk.here, machines.repository, 120, 40);
    stage.start("NEEDS YOU 3", machines.command());
    stage.wait_for("Far");
    stage.wait_for("gpu does not answer");
    select_task(stage, "far");
    CHECK(stage.press_all({"x"}).back().shows == "error");
    REQUIRE(::kill(machines.other.pid(), SIGCONT) == 0);
    stage.press({"Escape", "C-r"});
    stage.wait_without("gpu does not answer");
    stage.press({"x"});
    stage.wait_for("Cancel ");
}
