// Agents that end their turn and forget to tell Orange, in real tmux windows: the stand-in "forgetful" calls orange
// only when a message names the command.
#include <algorithm>
#include <fstream>
#include <thread>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

struct IdleBox : Sandbox {
    explicit IdleBox(const std::string& more, int idle_after = 1)
        : Sandbox("idle_after: " + std::to_string(idle_after) + "\nremind_again: 2\npoll_interval: 600\n" + more) {
        fs::create_directories(home() / "harnesses");
        write_file(home() / "harnesses/forgetful.yml",
                   "name: forgetful\nprogram: " ORANGE_SOURCE_DIR "/tests/data/stand-ins/forgetful\n" +
                       std::string("argv: {full: [--, \"{prompt}\"]}\n"
                                   "screen: {busy: [(works)], otherwise: idle, composer_empty: [❯]}\n"));
        add_project("shop");
    }
    std::string start() {
        rpc::TaskCreate params;
        params.summary = "Round the total";
        params.project = "shop";
        params.harness = params.review_harness = "forgetful";
        return call(params).task.fields.id.value;
    }
    Needs needs(const std::string& id) {
        rpc::TaskShow show;
        show.id = id;
        return call(show).task.needs;
    }
    bool has_notice(const std::string& id, NoticeKind kind) {
        rpc::TaskShow show;
        show.id = id;
        const auto notices = call(show).task.notices;
        return std::any_of(notices.begin(), notices.end(), [&](const Notice& each) { return each.kind == kind; });
    }
};

}  // namespace

TEST_CASE("a task whose agents forget every call reaches its review by reminders alone") {
    IdleBox box("");
    const auto id = box.start();
    box.eventually(
        "it is reviewed", [&] { return box.status(id) == "reviewing"; }, 60s);
    box.eventually("its history says so",
                   [&] { return box.path_of(id) == "pending planning working agent-review reviewing"; });
    const auto reminders = box.history(id, "agent.reminded");
    REQUIRE(reminders.size() == 3);
    CHECK(reminders[0].at("message") == "Your ## Plan is written. Run: orange task update --status working");
    CHECK(reminders[1].at("message") == "Your ## Handoff is written. Run: orange task update --status agent-review");
    CHECK(reminders[2].at("message") == "Your ## Review is written. Run: orange task update --status reviewing");
    CHECK(reminders[2].at("role") == "reviewer");
    // The worker that waits for its human is idle, and is left alone.
    std::this_thread::sleep_for(4s);
    CHECK(box.history(id, "agent.reminded").size() == 3);
    CHECK(box.needs(id).kind == Need::review);
}

TEST_CASE("an agent that does not listen is reminded twice, then its human is told") {
    IdleBox box("env: {FORGETFUL: deaf}\n");
    const auto id = box.start();
    box.eventually(
        "its human is told", [&] { return box.has_notice(id, NoticeKind::agent_idle); }, 40s);
    CHECK(box.history(id, "agent.reminded").size() == 2);
    CHECK(box.status(id) == "planning");
    CHECK(box.needs(id).kind == Need::help);
    CHECK_THAT(box.needs(id).text, Holds("orange task update --status working"));
    CHECK_THAT(box.needs(id).command, Tells("orange task attach " + id));
    CHECK(box.fields(id).at("crash_count") == 0);
}

TEST_CASE("with advance_idle the task goes on without the call, and a verdict taken so is not verified") {
    IdleBox box("env: {FORGETFUL: deaf}\nadvance_idle: true\n");
    const auto id = box.start();
    box.eventually(
        "it goes on", [&] { return box.status(id) != "planning"; }, 40s);
    CHECK(box.status(id) == "working");
    box.eventually("the history tells", [&] { return box.history(id, "auto.advanced").size() == 1; });
    const auto advanced = box.history(id, "auto.advanced");
    CHECK_THAT(advanced[0].at("reason").get<std::string>(), Tells("idle"));
    CHECK_FALSE(box.run_of(id, "worker").is_null());
    CHECK(box.fields(id).at("crash_count") == 0);
    std::ofstream(box.worktree(id) / "TASK.md", std::ios::app) << "\n## Handoff\n\nDONE: x\n";
    box.eventually(
        "it is reviewed", [&] { return box.status(id) == "reviewing"; }, 60s);
    box.eventually("the verdict is not verified", [&] { return box.has_notice(id, NoticeKind::unverified_review); });
}

TEST_CASE("nothing is typed over what a person has begun to type") {
    IdleBox box("", 4);
    const auto id = box.start();
    box.eventually("it waits", [&] {
        const auto run = box.run_of(id, "worker");
        return !run.is_null() &&
               box.tmux({"capture-pane", "-p", "-t", run.at("pane_id")}).out.find("❯") != std::string::npos;
    });
    // As a program shows it: what is typed stands in the prompt's own line.
    const auto pane = box.run_of(id, "worker").at("pane_id").get<std::string>();
    const auto tty = box.tmux({"display-message", "-p", "-t", pane, "#{pane_tty}"}).out;
    std::ofstream(std::string(trim(tty))) << "\033[2J\033[H❯ do not do th";
    box.eventually(
        "its human is told", [&] { return box.has_notice(id, NoticeKind::agent_idle); }, 20s);
    CHECK(box.history(id, "agent.reminded").empty());
}
