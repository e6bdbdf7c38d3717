// The tables, colours, histories and trees of client/output.
#include <cstdlib>
#include <ctime>

#include "client/output/events.hpp"
#include "client/output/harnesses.hpp"
#include "client/output/listings.hpp"
#include "client/output/local_time.hpp"
#include "client/output/table.hpp"
#include "client/output/tasks.hpp"
#include "client/output/tree.hpp"
#include "common/base/text.hpp"
#include "common/model/notice_kinds.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace std::chrono_literals;

namespace {

const Timestamp k_now = *from_rfc3339("2026-11-20T11:00:00.000Z");

rpc::TaskView some_task(const std::string& id, const std::string& summary) {
    rpc::TaskView task;
    task.fields.id.value = id;
    task.short_id = id.substr(0, 8);
    task.fields.project = "shop";
    task.fields.branch = "orange-tasks/" + id;
    task.fields.status = "agent-review";
    task.fields.summary = summary;
    task.fields.counters["review_round"] = 1;
    task.fields.harness = "demo";
    task.fields.review_harness = "claude";
    task.fields.review_effort = "high";
    task.fields.created_at = *from_rfc3339("2026-11-20T09:00:00.000Z");
    task.fields.updated_at = *from_rfc3339("2026-11-20T10:55:00.000Z");
    task.path = "/home/x/orange/tasks/shop/" + id;
    task.worker = "none";
    task.reviewer = "alive";
    return task;
}

std::size_t widest(const std::string& page) {
    std::size_t most = 0;
    for (const auto line : split_lines(page)) most = std::max(most, columns_of(line));
    return most;
}

const std::string k_long(300, 'w');

}  // namespace

TEST_CASE("A table gives each column what it needs where there is room") {
    output::Table table({{"ID"}, {"NAME", 4}});
    table.row({{"1"}, {"a"}});
    table.row({{"22"}, {"bb bb"}});
    CHECK(table.render({}) == "ID  NAME\n1   a\n22  bb bb\n");
}

TEST_CASE("A table that is too wide shrinks its widest shrinkable column first, and no other") {
    output::Table table({{"ID"}, {"A", 5}, {"B", 5}});
    table.row({{"12345678"}, {std::string(20, 'a')}, {std::string(60, 'b')}});
    const auto lines = table.render({false, 50});
    CHECK_THAT(lines, Holds("12345678  " + std::string(18, 'a') + "…"));
    CHECK(widest(lines) == 50);
    CHECK(widest(table.render({false, 10})) == 8 + 2 + 5 + 2 + 5);
    CHECK_THAT(table.render({false, 50, 1000}), Holds(std::string(60, 'b')));
}

TEST_CASE("A table that cannot shrink enough leaves columns out, and no more than it has to") {
    output::Table table({{"ID"}, {"A", 0, 1}, {"B", 0, 2}, {"NAME", 4}});
    table.row({{"1234"}, {"aaaa"}, {"bbbb"}, {"a long name"}});
    CHECK(table.render({false, 22}) == "ID    A     B     NAME\n1234  aaaa  bbbb  a l…\n");
    CHECK(table.render({false, 21}) == "ID    A     NAME\n1234  aaaa  a long n…\n");
    CHECK(table.render({false, 15}) == "ID    NAME\n1234  a long n…\n");
    CHECK(widest(table.render({false, 5})) == 4 + 2 + 4);
}

TEST_CASE("Colour adds nothing to a table's width and is absent without a terminal") {
    output::Table table({{"ID"}, {"A", 5}});
    table.row({{"x", output::k_red}, {"y", output::k_green}});
    CHECK_THAT(table.render({}), !Holds("\x1b"));
    CHECK_THAT(table.render({true, 80}), Holds("\x1b[31mx\x1b[0m   \x1b[32my\x1b[0m"));
}

TEST_CASE("Long text is wrapped at blanks, a long word is cut") {
    CHECK(output::wrapped("aaa bbb ccc", "", 20) == "aaa bbb ccc\n");
    CHECK(output::wrapped("the quick brown fox jumps over", "  ", 24) == "  the quick brown fox\n  jumps over\n");
    CHECK(widest(output::wrapped(k_long, "    ", 40)) == 40);
    CHECK(output::wrapped("a\n\nb", "", 80) == "a\n\nb\n");
    CHECK(output::wrapped("", "", 80).empty());
}

TEST_CASE("A change of status stands before what followed from it, with the time at which it was committed") {
    const auto event = [](const char* type, const char* second) {
        return Json{{"type", type}, {"timestamp", std::string("2026-11-20T10:00:0") + second + ".000Z"}};
    };
    auto moved = event("status.changed", "4");
    moved["from"] = "planning";
    moved["to"] = "working";
    moved["at"] = "2026-11-20T10:00:02.000Z";
    const Json events = {event("workspace.acquired", "1"), event("agent.spawned", "3"), moved,
                         event("task.merged", "5")};
    const auto page = output::history_page(events, output::Style{});
    CHECK(page.find("workspace") < page.find("planning → working"));
    CHECK(page.find("planning → working") < page.find("agent"));
    CHECK(page.find("agent") < page.find("merged"));
    CHECK(page.find(":04") == std::string::npos);
}

TEST_CASE("A history is told in the order of its lines, whatever the clock was set to in between") {
    const auto event = [](const char* type, const char* time) {
        return Json{{"type", type}, {"timestamp", "2026-" + std::string(time) + ":00.000Z"}};
    };
    auto moved = event("status.changed", "11-20T10:03");
    moved["from"] = "planning";
    moved["to"] = "working";
    moved["at"] = "2026-11-20T10:01:00.000Z";
    const Json events = {event("workspace.acquired", "12-20T10:00"), event("agent.spawned", "11-20T10:02"), moved,
                         event("task.merged", "11-20T10:04")};
    const auto page = output::history_page(events, output::Style{});
    CHECK(page.find("workspace") < page.find("planning → working"));
    CHECK(page.find("planning → working") < page.find("agent"));
    CHECK(page.find("agent") < page.find("merged"));
}

TEST_CASE("People read times of their own time zone") {
    const char* before = std::getenv("TZ");
    const std::string kept = before ? before : "";
    ::setenv("TZ", "XYZ-2:30", 1);
    ::tzset();
    CHECK(output::local_time("2026-12-31T22:49:03.120Z") == "2027-01-01 01:19:03");
    CHECK(output::local_clock("2026-12-31T22:49:03.120Z") == "01:19:03");
    CHECK(output::local_time("whenever") == "whenever");
    CHECK(output::local_clock("") == "");
    const auto midnight = *from_rfc3339("2026-12-31T21:30:00.000Z");
    CHECK(output::start_of_day(midnight + 20h) == midnight);
    CHECK(output::start_of_day(midnight) == midnight);
    CHECK(output::start_of_day(midnight - 1s) == midnight - 24h);
    before ? ::setenv("TZ", kept.c_str(), 1) : ::unsetenv("TZ");
    ::tzset();
}

TEST_CASE("A list fits 80 columns whatever is in it") {
    rpc::TaskList::Reply reply;
    for (const std::string summary :
         {"short", "", "Größe 😀 with blanks in it and more than fits into its column at all"}) {
        reply.tasks.push_back(some_task("4f2aBcDeFgHiJkLmNoPqR", summary));
        reply.tasks.back().notices = {
            {NoticeKind::hook_failed, "spawn_reviewer: " + k_long + "\nmore", "", "", k_now},
            {NoticeKind::git_config_changed, "what git runs was changed: " + k_long, "", "", k_now}};
        reply.tasks.back().needs = {Need::help, "spawn_reviewer: " + k_long, task_command("show"), k_now};
        reply.tasks.back().fields.project = summary.empty() ? "shop" : "another-project-with-a-long-name";
    }
    reply.tasks[1].unreadable = "state.json: " + k_long;
    reply.hidden = 3;
    const auto page = output::task_list_page(reply, k_now, {});
    CHECK(widest(page) <= 80);
    CHECK_THAT(page, Tells("4f2aBcDe") && Holds("● agent-review") && Tells("5m") && Tells("help") && !Tells("more") &&
                         Holds("! spawn_reviewer") && Tells("unreadable") && Holds("! what git runs was changed") &&
                         Tells("PROJECT") && Tells("3"));
    CHECK_THAT(page, !Holds("4f2aBcDeF  "));
}

TEST_CASE("The parts of a long list are one table") {
    rpc::TaskList::Reply reply;
    reply.tasks = {some_task("4f2aBcDeFgHiJkLmNoPqR", "first")};
    output::Table::Shape shape;
    const auto first = output::task_list_part(reply, k_now, {}, false, shape);
    const auto same = output::task_list_part(reply, k_now, {}, false, shape);
    CHECK(first == output::task_list_page(reply, k_now, {}));
    CHECK(same == first.substr(first.find('\n') + 1));
    reply.tasks = {some_task("4f2aBcDeFgHiJkLmNoPqR", "second")};
    reply.tasks[0].fields.status = "x";
    const auto narrow = output::task_list_part(reply, k_now, {}, false, shape);
    CHECK(narrow.find("second") == same.find("first"));
    reply.tasks.push_back(some_task("5f2aBcDeFgHiJkLmNoPqR", "third"));
    reply.tasks[1].fields.project = "another";  // which is another column
    CHECK_THAT(output::task_list_part(reply, k_now, {}, false, shape), Holds("PROJECT"));
    reply.tasks.clear();
    CHECK(output::task_list_part(reply, k_now, {}, false, shape).empty());
}

TEST_CASE("Pages fit 40 columns, with emoji that terminals show as one picture or as many") {
    rpc::TaskList::Reply reply;
    reply.tasks = {some_task("4f2aBcDeFgHiJkLmNoPqR",
                             "👨\u200d👩\u200d👧\u200d👦 family 🇩🇪 flag 👍🏽 and more of it")};
    auto& task = reply.tasks.front();
    task.committed = rpc::ChangeCounts{};
    task.committed->added = 1000;
    task.committed->files = 1;
    task.worker_activity = AgentActivity{};
    const output::Style narrow{false, 40};
    const auto list = output::task_list_page(reply, k_now, narrow);
    CHECK_THAT(list, Tells(task.fields.status) && Holds("👨👩"));
    CHECK(widest(list) <= 40);
    CHECK(widest(output::tree_page(std::vector<output::TreeTask>(), narrow)) <= 40);
    rpc::ProjectList::Reply projects;
    projects.projects.emplace_back().name = "shop";
    projects.projects.back().path = projects.projects.back().default_branch = k_long;
    CHECK(widest(output::projects_page(projects, narrow)) <= 40);
    for (const auto& page : {list, output::inbox_page(reply, k_now, narrow)}) CHECK_THAT(page, !Holds("\u200d"));
}

TEST_CASE("A list of one project's tasks has no column for it, an empty list says how to begin") {
    rpc::TaskList::Reply reply;
    CHECK_THAT(output::task_list_page(reply, k_now, {}), Tells("orange create"));
    reply.tasks = {some_task("4f2aBcDeFgHiJkLmNoPqR", "x")};
    CHECK_THAT(output::task_list_page(reply, k_now, {}), !Holds("PROJECT"));
}

TEST_CASE("A list shows sub-tasks below their task, which counts them, but for those that need somebody") {
    rpc::TaskList::Reply reply;
    for (const char* name : {"help", "other", "first", "whole", "second"}) {
        reply.tasks.push_back(some_task(std::string(name) + "FgHiJkLmNoPqR", name));
        auto& task = reply.tasks.back();
        task.needs = {};
        if (task.fields.summary != "other" && task.fields.summary != "whole")
            task.fields.parent.value = "wholeFgHiJkLmNoPqR";
    }
    reply.tasks[0].needs = {Need::help, "it is stuck", task_command("show"), k_now};
    reply.tasks[3].children = {"helpFgHiJkLmNoPqR", "firstFgHiJkLmNoPqR", "secondFgHiJkLmNoPqR"};
    reply.tasks[3].children_done = 1;
    const auto page = output::task_list_page(reply, k_now, {});
    std::vector<std::string> summaries;
    const auto column = page.find("SUMMARY");
    for (const auto line : split_lines(page)) {
        const auto last = line.find_last_of(' ') + 1;
        summaries.push_back(std::string(columns_of(line.substr(0, last)) - column, ' ') +
                            std::string(line.substr(last)));
    }
    CHECK(summaries == std::vector<std::string>{"SUMMARY", "help", "other", "whole", "  first", "  second"});
    CHECK_THAT(page, Tells("1/3"));
}

TEST_CASE("A list has a column for the lines that changed if anything did") {
    rpc::TaskList::Reply reply;
    reply.tasks = {some_task("4f2aBcDeFgHiJkLmNoPqR", "x"), some_task("5f2aBcDeFgHiJkLmNoPqR", "y")};
    reply.tasks[0].committed = rpc::ChangeCounts{};
    CHECK_THAT(output::task_list_page(reply, k_now, {}), !Holds("LINES"));
    reply.tasks[1].committed = rpc::ChangeCounts{1, 2, 120, 4, false};
    const auto page = output::task_list_page(reply, k_now, {});
    CHECK_THAT(page, Holds("ROUND  LINES") && Holds("1      +120 -4  5m"));
    CHECK_THAT(page, !Holds("+0"));
}

TEST_CASE("A list marks who lives, who died, who is unknown, who waits and what is moving") {
    const auto row = [](const char* worker, const char* reviewer, int place, bool moving, const char* command = "") {
        rpc::TaskList::Reply reply;
        reply.tasks = {some_task("4f2aBcDeFgHiJkLmNoPqR", "x")};
        auto& task = reply.tasks.front();
        task.fields.status = "pending";
        task.fields.branch = "b";
        task.worker = worker;
        task.reviewer = reviewer;
        task.queue_place = place;
        task.needs.command = OrangeCommand::from_text(command);
        if (moving) task.in_progress = "pending → planning";
        return output::task_list_page(reply, k_now, {});
    };
    CHECK_THAT(row("alive", "none", 0, false), Holds("● pending  1"));
    CHECK_THAT(row("alive", "dead", 0, false), Holds("● pending  1"));
    CHECK_THAT(row("dead", "alive", 0, false), Holds("● pending  1"));
    CHECK_THAT(row("alive", "dead", 0, false, "orange task respawn 4f2a"), Holds("✗ ") && !Holds("●"));
    CHECK_THAT(row("dead", "none", 0, false), Holds("✗ ") && Tells("pending") && !Holds("●"));
    CHECK_THAT(row("unknown", "none", 0, false), Holds("? pending  1"));
    CHECK_THAT(row("none", "none", 2, false), Holds("○ pending #2  1"));
    CHECK_THAT(row("none", "none", 0, true), Holds("○ pending…  1"));
}

TEST_CASE("A task's page shows all of it within 80 columns, its body whole") {
    rpc::TaskShow::Reply reply;
    reply.task = some_task("4f2aBcDeFgHiJkLmNoPqR", k_long);
    reply.task.notices = {{NoticeKind::hook_failed, "words and " + k_long, "", "", k_now}};
    reply.task.needs = {Need::answer, "the agent asks", task_command("reply", "4f2aBcDeFgHiJkLmNoPqR", "\"...\""),
                        k_now};
    reply.changes = rpc::ChangeCounts{2, 3, 40, 5, true};
    reply.body = "## Plan\n\nAPPROACH: add\x1b[0m it\n";
    reply.history = Json::array({{{"type", "status.changed"},
                                  {"timestamp", "2026-11-20T10:49:03.120Z"},
                                  {"from", "planning"},
                                  {"to", "working"},
                                  {"by", "worker"}}});
    const auto page = output::task_page(reply, k_now, {});
    CHECK(widest(page) <= 80);
    CHECK_THAT(page, Tells("4f2aBcDeFgHiJkLmNoPqR") && Tells("demo") && Holds("orange task reply 4f2aBcDe \"") &&
                         Tells("answer") && Holds("2 commits") && Holds("+40 -5") && Tells("claude") && Tells("high") &&
                         Tells("2h") && Tells("5m") && Holds("APPROACH: add\\x1b[0m it") &&
                         Holds("10:49:03  planning → working"));
}

TEST_CASE("The inbox shows each need with its command on a line of its own, or that there is none") {
    rpc::TaskList::Reply reply;
    CHECK(output::inbox_page(reply, k_now, {}) == "Nothing needs you.\n");
    reply.tasks = {some_task("4f2aBcDeFgHiJkLmNoPqR", k_long)};
    reply.tasks[0].needs = {Need::help, "the worker crashed: " + k_long,
                            task_command("respawn", "4f2aBcDeFgHiJkLmNoPqR"), k_now - 5min};
    const auto page = output::inbox_page(reply, k_now, {});
    CHECK(widest(page) <= 80);
    CHECK_THAT(page, Tells("help") && Tells("5m") && Holds("\n        orange task respawn 4f2aBcDe\n"));
    CHECK(page.find("--all") == std::string::npos);
    reply.tasks.push_back(some_task("5f2aBcDeFgHiJkLmNoPqR", "waits for its review"));
    reply.tasks[1].needs = {Need::review, "ready", task_command("diff", "5f2aBcDeFgHiJkLmNoPqR"), k_now};
    reply.tasks[1].worker = "alive";
    CHECK(output::inbox_page(reply, k_now, {}).find("--all") == std::string::npos);
    reply.tasks[1].worker = "dead";
    CHECK_THAT(output::inbox_page(reply, k_now, {}), Tells("orange task respawn --all"));
    reply.tasks[1].short_id = "box:5f2a";  // each host has one: no command for all of them
    CHECK(output::inbox_page(reply, k_now, {}).find("--all") == std::string::npos);
    reply.tasks[0].short_id = "box:4f2a";
    CHECK_THAT(output::inbox_page(reply, k_now, {}), Tells("orange --host box task respawn --all"));
    reply.tasks[0].short_id = "4f2aBcDe";
    reply.tasks[1].short_id = "5f2aBcDe";
    reply.tasks[1].notices = {{NoticeKind::unverified_review, "the review is not verified\nmore", "", "", k_now},
                              {NoticeKind::agent_ended, "ready", "", "", k_now}};
    CHECK_THAT(output::inbox_page(reply, k_now, {}),
               Holds("        ! the review is not verified\n") && !Holds("more") && !Holds("! ready"));
}

TEST_CASE("The inbox names the command that denies beside the one that allows, if there is room") {
    rpc::TaskList::Reply reply;
    reply.tasks = {some_task("4f2aBcDeFgHiJkLmNoPqR", "Round the total")};
    auto& needs = reply.tasks[0].needs;
    needs = {Need::answer, "claude asks", task_command("allow", "4f2aBcDeFgHiJkLmNoPqR.12"), k_now, 12};
    CHECK_THAT(output::inbox_page(reply, k_now, {}),
               Holds("        orange task allow 4f2aBcDe.12 ") && Tells("orange deny 4f2aBcDe.12"));
    CHECK_THAT(output::inbox_page(reply, k_now, {false, 60, 60}), !Holds("deny"));
    needs.command = task_command("show", "4f2aBcDeFgHiJkLmNoPqR");  // the line does not say all of it
    CHECK_THAT(output::inbox_page(reply, k_now, {}), !Holds("deny"));
}

TEST_CASE("Why shows each way out, who may take it and what is missing") {
    rpc::TaskWhy::Reply reply;
    reply.task = some_task("4f2aBcDeFgHiJkLmNoPqR", "x");
    reply.waiting_for = "the reviewer's verdict";
    rpc::EdgeView edge;
    edge.to = "working";
    edge.by = {"reviewer", "human"};
    edge.guard = "review_round < 2";
    edge.guard_holds = false;
    edge.missing = "## Review is missing";
    reply.edges = {edge};
    edge.to = "done";
    edge.open = edge.needs_force = true;
    reply.edges.push_back(edge);
    const auto page = output::Style{}.paint(output::why_lines(reply, {}));
    CHECK_THAT(page, Tells("agent-review") && Holds(reply.waiting_for) && Holds("✗ → working") &&
                         Tells("reviewer, human") && Holds(edge.guard) && Holds("## Review is missing") &&
                         Holds("✓ → done") && Tells("--force"));
}

TEST_CASE("Every event is a sentence, an unknown one its fields") {
    const auto sentence = [](Json event) { return output::event_sentence(event); };
    CHECK_THAT(sentence({{"type", "status.changed"}, {"from", "a"}, {"to", "b"}, {"by", "human"}}),
               Tells("a → b") && Tells("human"));
    CHECK_THAT(sentence({{"type", "auto.advanced"}, {"from", "a"}, {"to", "b"}, {"reason", "handoff"}}),
               Tells("a → b") && Tells("handoff"));
    CHECK_THAT(sentence({{"type", "agent.crashed"}, {"role", "worker"}, {"status", "working"}, {"exit_status", 1}}),
               Tells("worker") && Tells("1"));
    CHECK_THAT(sentence({{"type", "agent.spawned"}, {"role", "reviewer"}, {"harness", "demo"}}),
               Tells("reviewer") && Tells("demo"));
    CHECK_THAT(sentence({{"type", "hook.failed"}, {"hook", "kill_session"}, {"error", "no tmux"}}),
               Tells("kill_session") && Holds("no tmux"));
    CHECK_THAT(sentence({{"type", "task.merged"}, {"commit", "abc"}}), Tells("abc"));
    CHECK_THAT(sentence({{"type", "permit.asked"}, {"number", 2}, {"role", "worker"}, {"request", "npm\x1b[1m i"}}),
               Tells("2") && Tells("worker") && Holds("npm\\x1b[1m i"));
    CHECK_THAT(sentence({{"type", "permit.answered"},
                         {"number", 2},
                         {"decision", "deny"},
                         {"by", "human"},
                         {"request", "npm i"},
                         {"text", "use\nnpm ci"}}),
               Tells("human") && Holds("denied") && Holds("npm i") && Holds("use ⏎ npm ci"));
    CHECK_THAT(sentence({{"type", "permit.asked"}, {"role", "reviewer"}, {"tool", "Bash"}}),
               Tells("reviewer") && Holds("Bash"));
    CHECK_THAT(sentence({{"type", "permit.over"}, {"number", 2}, {"how", "deadline"}}),
               Tells("2") && Holds("deadline"));
    CHECK(sentence({{"type", "new.thing"}, {"timestamp", "t"}, {"n", 3}, {"ok", true}}) == "new.thing n=3 ok=true");
    CHECK(sentence("text\x1b") == "text\\x1b");
    CHECK(sentence(nullptr) == "null");
}

TEST_CASE("The other pages fit 80 columns and harm no terminal either") {
    const std::string evil = "\x1b[2J" + k_long;
    const output::Style style;
    rpc::ProjectList::Reply projects;
    projects.projects.resize(1);
    auto& project = projects.projects[0];
    project.name = project.path = project.default_branch = evil;
    project.workflow = evil;
    rpc::WorkspaceReply workspaces;
    workspaces.workspaces = {{evil, evil, evil, "taken", evil, "4f2a", evil, evil}};
    rpc::WorkflowList::Reply workflows;
    workflows.workflows = {{evil, evil, false, true, false, evil, true, {}, {evil}}};
    rpc::HarnessList::Reply harnesses;
    rpc::HarnessView harness;
    harness.name = evil;
    harness.path = evil;
    harness.program = evil;
    harness.installed = true;
    harness.mode = "oneshot";
    harness.version = evil;
    harness.missing = {evil};
    harness.problem = evil;
    harnesses.harnesses.push_back(harness);
    for (const auto& page : {output::projects_page(projects, style), output::workspaces_page(workspaces, style),
                             output::workflows_page(workflows, style), output::harnesses_page(harnesses, style)}) {
        CHECK(widest(page) <= 80);
        CHECK(printable(page, true) == page);
    }
    harness.problem = "harnesses/idle.yml:2:1: the first of two long problems of a file\nand the second";
    harness.missing.clear();
    harnesses.harnesses = {harness};
    const auto broken = output::harnesses_page(harnesses, style);
    CHECK_THAT(broken, Holds("! harnesses/idle.yml:2:1: the first of two long problems of a file"));
    CHECK_THAT(broken, Holds("! and the second"));
    // Commands that are there to be copied are not broken into lines.
    const auto exported = output::export_page({evil, evil, true});
    CHECK(printable(exported, true) == exported);
    rpc::DaemonStatus::Reply status;
    status.version = status.home = evil;
    status.problems = {evil};
    status.tasks = {{evil, 2}};
    status.uptime_seconds = 7200;
    const auto page = output::daemon_page(status, style);
    CHECK(printable(page, true) == page);
    CHECK_THAT(page, Tells("2h"));
}
