// Agents that end their turn and forget to tell Orange, in real tmux windows: the stand-in "forgetful" calls orange
// only when a message names the command.
#include <algorithm>
#include <fstream>

#include "common/base/text.hpp"
#include "common/model/notice_kinds.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

struct IdleBox : Sandbox {
    explicit IdleBox(const std::string& more)
        : Sandbox("idle_after: 600\nremind_again: 600\npoll_interval: 600\n" + more, 0, Time::of_test) {
        fs::create_directories(home() / "harnesses");
        write_file(home() / "harnesses/forgetful.yml",
                   "name: forgetful\nprogram: " ORANGE_SOURCE_DIR "/tests/data/stand-ins/forgetful\n" +
                       std::string("argv: {full: [--, \"{prompt}\"]}\n"
                                   "screen: {busy: [(works)], otherwise: idle, composer_empty: [❯]}\n"));
        write_file(home() / "harnesses/mute.yml", "name: mute\nprogram: " ORANGE_SOURCE_DIR
                                                  "/tests/data/stand-ins/forgetful\n" +
                                                      std::string("argv: {full: [--, \"{prompt}\"]}\n"));
        add_project("shop");
    }
    std::string start(const std::string& harness = "forgetful") {
        rpc::TaskCreate params;
        params.summary = "Round the total";
        params.project = "shop";
        params.harness = params.review_harness = harness;
        return call(params).task.fields.id.value;
    }
    Needs needs(const std::string& id) {
        rpc::TaskShow show;
        show.id = id;
        return call(show).task.needs;
    }
    /// What the daemon knows of the agent whose turn it is.
    bool is_idle(const std::string& id) {
        rpc::TaskShow show;
        show.id = id;
        const auto task = call(show).task;
        const auto& seen = task.fields.status == "agent-review" ? task.reviewer_activity : task.worker_activity;
        return seen && seen->activity == Activity::idle;
    }
    /// True if the agent has taken every message.
    bool has_taken_messages(const std::string& id) {
        const auto state = Json::parse(read_file(folder(id) / "state.json"));
        const auto typed = state.value("typed", Json::array());
        return state.value("outbox", Json::array()).empty() &&
               std::all_of(typed.begin(), typed.end(), [](const Json& each) { return each.value("seen", false); });
    }
    /// Ten minutes pass whenever the agent is idle, until that happens. Nothing passes while the agent works.
    void idle_until(const std::string& id, const std::string& what, const std::function<bool()>& happens) {
        while (!happens()) {
            eventually(what, [&] { return happens() || (is_idle(id) && has_taken_messages(id)); });
            if (happens()) return;
            pass(600s);
            eventually(what, [&] { return happens() || !is_idle(id) || !has_taken_messages(id); });
        }
    }
    std::size_t reminders(const std::string& id) { return history(id, "agent.reminded").size(); }
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
    std::size_t count = 0;
    for (const std::string next : {"working", "agent-review", "reviewing"}) {
        ++count;
        box.idle_until(id, "it is reminded", [&] { return box.reminders(id) == count; });
        box.wait_for_status(id, next);
    }
    box.eventually("its history says so",
                   [&] { return box.path_of(id) == "pending planning working agent-review reviewing"; });
    const auto reminders = box.history(id, "agent.reminded");
    REQUIRE(reminders.size() == 3);
    CHECK(reminders[0].at("message") == "Your ## Plan is written. Run: orange task update --status working");
    CHECK(reminders[1].at("message") == "Your ## Handoff is written. Run: orange task update --status agent-review");
    CHECK(reminders[2].at("message") == "Your ## Review is written. Run: orange task update --status reviewing");
    CHECK(reminders[2].at("role") == "reviewer");
    // The worker that waits for its human is idle, and is left alone.
    for (int i = 0; i < 2; ++i) box.pass_with_poll(1h);
    CHECK(box.reminders(id) == 3);
    CHECK(box.needs(id).kind == Need::review);
}

TEST_CASE("a handover that lies ready is told to the human if the agent's window cannot be read") {
    IdleBox box("env: {FORGETFUL: deaf}\nhung_after: 86400\n");
    const auto id = box.start("mute");
    box.eventually("its plan is read", [&] { return box.body(id).find("## Plan") != std::string::npos; });
    int passed = 0;
    while (!box.has_notice(id, NoticeKind::agent_idle) && ++passed < 100) box.pass_with_poll(600s);
    CHECK(passed > 1);  // not before 600 s and 600 s more
    CHECK(box.needs(id).kind == Need::help);
    CHECK_THAT(box.needs(id).text, Holds("## Plan"));
    CHECK(box.needs(id).command == task_command("update", id, "--status working"));
    CHECK(box.status(id) == "planning");
    CHECK(box.reminders(id) == 0);
    box.update_status(id, "working").value();
    CHECK_FALSE(box.has_notice(id, NoticeKind::agent_idle));
}

TEST_CASE("an agent that shows nothing and does nothing is told to the human if its window cannot be read") {
    IdleBox box("hung_after: 600\n");
    write_file(box.home() / "harnesses/silent.yml",
               "name: silent\nprogram: sh\nargv: {full: [-c, sleep 100000, --, \"{prompt}\"]}\n");
    const auto id = box.start("silent");
    for (int i = 0; i < 100 && !box.has_notice(id, NoticeKind::agent_hung); ++i) box.pass_with_poll(600s);
    CHECK(box.has_notice(id, NoticeKind::agent_hung));
    CHECK(box.needs(id).kind == Need::help);
}

TEST_CASE("an agent that does not listen is reminded twice, then its human is told") {
    IdleBox box("env: {FORGETFUL: deaf}\n");
    const auto id = box.start();
    for (const std::size_t count : {1, 2}) {
        box.idle_until(id, "it is reminded", [&] { return box.reminders(id) == count; });
    }
    CHECK_FALSE(box.has_notice(id, NoticeKind::agent_idle));
    box.idle_until(id, "its human is told", [&] { return box.has_notice(id, NoticeKind::agent_idle); });
    CHECK(box.reminders(id) == 2);
    // Whoever listens learns of it, although nothing else happens.
    box.eventually("the event", [&] {
        const auto events = box.orange({"events", "--task", id, "--types", "task.needs", "--json"});
        return events.status == 0 && events.out.find("\"help\"") != std::string::npos;
    });
    CHECK(box.status(id) == "planning");
    CHECK(box.needs(id).kind == Need::help);
    CHECK_THAT(box.needs(id).text, Holds("## Plan"));
    CHECK(box.needs(id).command == task_command("update", id, "--status working"));
    CHECK(box.fields(id).at("crash_count") == 0);
}

TEST_CASE("with advance_idle the task goes on without the call, and a verdict taken so is not verified") {
    IdleBox box("env: {FORGETFUL: deaf}\nadvance_idle: true\n");
    const auto id = box.start();
    box.idle_until(id, "it goes on", [&] { return box.status(id) != "planning"; });
    CHECK(box.status(id) == "working");
    box.eventually("the history tells", [&] { return box.history(id, "auto.advanced").size() == 1; });
    const auto advanced = box.history(id, "auto.advanced");
    CHECK_THAT(advanced[0].at("reason").get<std::string>(), Tells("idle"));
    CHECK_FALSE(box.run_of(id, "worker").is_null());
    CHECK(box.fields(id).at("crash_count") == 0);
    std::ofstream(box.worktree(id) / "TASK.md", std::ios::app) << "\n## Handoff\n\nDONE: x\n";
    box.idle_until(id, "it is reviewed", [&] { return box.status(id) == "reviewing"; });
    box.eventually("the verdict is not verified", [&] { return box.has_notice(id, NoticeKind::unverified_review); });
}

TEST_CASE("nothing is typed over what a person has begun to type") {
    IdleBox box("");
    const auto id = box.start();
    box.eventually("it waits", [&] {
        const auto run = box.run_of(id, "worker");
        return !run.is_null() &&
               box.tmux({"capture-pane", "-p", "-t", run.at("pane_id").get<std::string>()}).out.find("❯") !=
                   std::string::npos;
    });
    // As a program shows it: what is typed stands in the prompt's own line.
    const auto pane = box.run_of(id, "worker").at("pane_id").get<std::string>();
    const auto tty = box.tmux({"display-message", "-p", "-t", pane, "#{pane_tty}"}).out;
    std::ofstream(std::string(trim(tty))) << "\033[2J\033[H❯ do not do th";
    box.eventually("its window shows it", [&] {
        return box.tmux({"capture-pane", "-p", "-t", pane}).out.find("do not do th") != std::string::npos;
    });
    box.idle_until(id, "its human is told", [&] { return box.has_notice(id, NoticeKind::agent_idle); });
    CHECK(box.history(id, "agent.reminded").empty());
}
