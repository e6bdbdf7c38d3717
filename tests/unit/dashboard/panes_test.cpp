// What stands beside the list, and when it is asked for.
#include "tests/unit/dashboard/desk.hpp"

using namespace orange;
using namespace orange::tests;
using dashboard::Purpose;
using std::chrono::milliseconds;

namespace {

std::vector<dashboard::Line> rows_of_pane(dashboard::Pane pane, const dashboard::PaneText& text, std::size_t width) {
    dashboard::Places places;
    return dashboard::pane_lines(pane, text, width, places);
}

}  // namespace

TEST_CASE("At 80 columns nothing is asked for a pane until it is shown") {
    Desk desk({running("aaaa0000")});
    desk.pass(milliseconds(1000));
    CHECK(desk.sent.empty());
    desk.press("1");
    CHECK(desk.has_sent(Purpose::screen));
    CHECK(desk.last(Purpose::screen).params.at("colours") == true);
    CHECK_THAT(desk.screen(), Holds("[1 screen]"));
    desk.press("Esc");
    desk.sent.clear();
    desk.pass(milliseconds(2000));
    CHECK(desk.sent.empty());
}

TEST_CASE("The screen of a living agent is asked for again when the agent has written, and of a dead one once") {
    auto task = running("aaaa0000");
    task.fields.updated_at = k_desk_time - std::chrono::minutes(10);
    Desk desk({task}, 120, 40);
    desk.pass(milliseconds(1));
    desk.answer(Purpose::screen, Json{{"role", "worker"}, {"text", "\x1b[32mhello\x1b[0m\n"}});
    CHECK_THAT(desk.screen(), Holds("hello"));
    const auto before = desk.frame();
    desk.pass(milliseconds(5000));
    CHECK(desk.sent.empty());
    desk.wrote("bbbb0000");
    CHECK(desk.sent.empty());
    for (int i = 0; i < 3; ++i) desk.wrote("aaaa0000");
    CHECK(desk.sent.size() == 1);  // one at a time
    desk.answer(Purpose::screen, Json{{"role", "worker"}, {"text", "\x1b[32mhello\x1b[0m\n"}});
    CHECK(desk.frame() == before);
    Desk dead({crashed("bbbb0000")}, 120, 40);
    dead.pass(milliseconds(1));
    CHECK(dead.last(Purpose::screen).method == "task.log");
    dead.answer(Purpose::screen, Json{{"windows", Json::array()}, {"text", "last words\n"}});
    dead.pass(milliseconds(5000));
    CHECK(dead.sent.empty());
    CHECK_THAT(dead.screen(), Holds("last words"));
}

TEST_CASE("Below a short list on a large screen is what the selected task has changed, and beside that its screen") {
    Desk desk({running("aaaa0000"), running("bbbb0000")}, 200, 50);
    desk.pass(milliseconds(1));
    CHECK_FALSE(desk.has_sent(Purpose::diff));  // one after the other
    desk.answer(Purpose::screen, Json{{"role", "worker"}, {"text", "hello\n"}});
    REQUIRE(desk.has_sent(Purpose::diff));
    const Json counts = {{"commits", 1}, {"files", 1}, {"added", 1}, {"removed", 1}, {"uncommitted", false}};
    const Json diff = {{"repository", "/home/shop"},
                       {"base", "b"},
                       {"tip", "t"},
                       {"changes", counts},
                       {"stat", " total.cpp | 2 +-\n"},
                       {"text", "diff --git a/x b/x\n"}};
    desk.answer(Purpose::diff, diff);
    CHECK_THAT(desk.screen(), Holds("hello") && Holds("total.cpp | 2 +-"));
    desk.sent.clear();
    desk.pass(milliseconds(5000));
    CHECK(desk.sent.empty());
    desk.event("aaaa0000");
    desk.pass(milliseconds(300));
    desk.answer(Purpose::screen, Json{{"role", "worker"}, {"text", "hello\n"}});
    CHECK(desk.has_sent(Purpose::diff));
    desk.answer(Purpose::diff, diff);
    desk.press("2");
    desk.pass(milliseconds(1));
    CHECK_THAT(desk.screen(), Holds("[2 diff]") && Holds("total.cpp | 2 +-") && !Holds("hello"));
    std::vector<rpc::TaskView> many;
    for (int i = 0; i < 40; ++i) many.push_back(running("task" + std::to_string(1000 + i)));
    Desk full(many, 200, 50);
    full.pass(milliseconds(1));
    full.answer(Purpose::screen, Json{{"role", "worker"}, {"text", "hello\n"}});
    CHECK_FALSE(full.has_sent(Purpose::diff));
}

TEST_CASE("The screen is asked for once its agent has started, and its last output once it has ended") {
    auto pending = task_view("aaaa0000", "pending", Need::start, {"spawn", "cancel"});
    Desk desk({pending}, 120, 40);
    desk.pass(milliseconds(1));
    desk.answer(Purpose::screen, Json{{"windows", Json::array()}, {"text", ""}});
    desk.event("aaaa0000");  // the list with the agent comes later than the answer to what follows an event
    desk.pass(milliseconds(1));
    if (desk.has_sent(Purpose::screen)) desk.answer(Purpose::screen, Json{{"windows", Json::array()}, {"text", ""}});
    desk.list({running("aaaa0000")});
    desk.pass(milliseconds(300));
    CHECK(desk.last(Purpose::screen).method == "task.peek");
    desk.answer(Purpose::screen, Json{{"role", "worker"}, {"text", "hello\n"}});
    CHECK_THAT(desk.screen(), Holds("hello"));
    desk.list({crashed("aaaa0000")});
    desk.pass(milliseconds(300));
    CHECK(desk.last(Purpose::screen).method == "task.log");
}

TEST_CASE("The daemon tells of the screen that is looked at, and of no other one") {
    Desk desk({running("aaaa0000"), running("bbbb0000"), in_review("cccc0000")}, 120, 40);
    (void)desk.core.on_reply(dashboard::request_of(rpc::EventsSubscribe{}, Purpose::subscribe),
                             dashboard::Answer(Json{{"cursor", "boot-7-7"}, {"resync", false}}), desk.now);
    const auto watched = [&] {
        const auto& params = desk.last(Purpose::subscribe).params;
        CHECK(params.at("since") == "boot-7-7");
        return params.value("screen", std::string("none"));
    };
    const auto select = [&](const char* key) {
        desk.press(key);
        desk.pass(milliseconds(200));
        if (desk.has_sent(Purpose::screen)) desk.answer(Purpose::screen, Json{{"text", "x\n"}});
    };
    select("g");  // one without an agent: its last output is read once
    CHECK_FALSE(desk.has_sent(Purpose::subscribe));
    select("j");
    CHECK(watched() == desk.core.state().selected);
    const auto first = watched();
    select("j");
    CHECK(watched() == desk.core.state().selected);
    CHECK(watched() != first);
    select("2");  // another pane
    CHECK(watched() == "none");
}

TEST_CASE("A move asks for the pane at once, and a key that is held down does not ask for each task") {
    std::vector<rpc::TaskView> tasks;
    for (int i = 0; i < 60; ++i) tasks.push_back(running("task" + std::to_string(1000 + i)));
    Desk desk(tasks, 120, 40);
    const auto answer = [&](const std::string& text) { desk.answer(Purpose::screen, Json{{"text", text + "\n"}}); };
    desk.pass(milliseconds(1));
    answer("the first");
    (void)desk.frame();
    desk.pass(milliseconds(1000));
    desk.press("j");
    REQUIRE(desk.sent.size() == 1);
    CHECK(desk.last(Purpose::screen).params.at("id") == "task1001");
    CHECK_THAT(desk.screen(), Holds("the first"));  // until the answer is there
    int asked = 0;
    for (int i = 0; i < 50; ++i) {
        desk.press("j");
        REQUIRE(desk.sent.size() <= 1);
        if (!desk.sent.empty()) answer("of task " + std::to_string(asked++));
        desk.pass(milliseconds(10));
    }
    CHECK(asked >= 10);
    CHECK(asked <= 1 + 500 / 40);
    desk.pass(milliseconds(40));
    REQUIRE(desk.sent.size() == 1);
    CHECK(desk.last(Purpose::screen).params.at("id") == "task1051");
    answer("the last");
    CHECK_THAT(desk.screen(), Holds("the last"));
    CHECK(desk.sent.empty());
}

TEST_CASE("A slow answer for one task does not hold up the next one, and its rows go") {
    Desk desk({running("aaaa0000"), running("bbbb0000"), running("cccc0000")}, 120, 40);
    desk.pass(milliseconds(1));
    desk.answer(Purpose::screen, Json{{"text", "of the first\n"}});
    (void)desk.frame();
    desk.pass(milliseconds(1000));
    desk.press("j");
    desk.press("j");
    REQUIRE(desk.sent.size() == 1);
    CHECK_THAT(desk.screen(), Holds("of the first"));
    desk.pass(milliseconds(150));
    REQUIRE(desk.sent.size() == 2);
    CHECK(desk.sent[1].params.at("id") == "cccc0000");
    CHECK_THAT(desk.screen(), !Holds("of the first"));
    desk.answer(Purpose::screen, Json{{"text", "of the second\n"}});
    CHECK_THAT(desk.screen(), !Holds("of the second"));
    desk.answer(Purpose::screen, Json{{"text", "of the third\n"}});
    CHECK_THAT(desk.screen(), Holds("of the third"));
}

TEST_CASE("Another pane shows nothing of the task that it showed last") {
    Desk desk({running("aaaa0000"), running("bbbb0000")}, 120, 40);
    desk.press("4");
    desk.answer(Purpose::screen, Json{{"text", "x\n"}});
    const Json event = {{"at", "2026-11-20T09:00:00.000Z"}, {"type", "task.created"}};
    desk.answer(Purpose::history, Json{{"events", Json::array({event})}});
    CHECK_THAT(desk.screen(), Holds("2026"));
    desk.press("1");
    desk.press("j");
    desk.press("4");
    CHECK_THAT(desk.screen(), !Holds("2026"));
}

TEST_CASE("The history says what each phase used, newest first, and the task's page what it used in all") {
    auto task = running("aaaa0000");
    task.usage.emplace().sum = {{3, 50'000, 0, 0, 0}, 50'000};
    task.usage->times.worker = 720;
    Desk desk({task}, 120, 40);
    desk.press("4");
    const auto event = [](const char* type, std::int64_t tokens) {
        return Json{
            {"timestamp", "2026-11-20T09:00:00.000Z"}, {"type", type}, {"from", "a"}, {"to", "b"}, {"tokens", tokens}};
    };
    desk.pass(milliseconds(1));
    desk.answer(Purpose::history,
                Json{{"events", Json::array({event("task.created", 0), event("status.changed", 41'000),
                                             event("status.changed", 50'000)})}});
    const auto text = desk.screen();
    REQUIRE(text.find("+9k tokens") != std::string::npos);
    CHECK(text.find("+9k tokens") < text.find("+41k tokens"));
    desk.press("3");
    desk.pass(milliseconds(1));
    rpc::TaskShow::Reply shown;
    shown.task = task;
    shown.history = Json::array();
    desk.answer(Purpose::task, written(shown));
    CHECK_THAT(desk.screen(), Holds("50k, 50k in, 3 requests") && Holds("worked on 12m"));
}

TEST_CASE("T tries the work of a task and ends that, and its output is read again while it runs") {
    auto task = in_review("aaaa0000");
    Desk none({task}, 120, 40);
    none.press("T");
    CHECK(none.methods().empty());
    CHECK_THAT(none.screen(), Tells("orange project update shop --dev npm run dev") && !Holds("6 try"));
    task.can.emplace_back("try");
    Desk desk({task}, 120, 40);
    desk.press("T");
    auto act = desk.last(Purpose::act);
    CHECK(act.method == "task.try");
    CHECK_FALSE(act.params.contains("stop"));
    CHECK(desk.core.state().pane == dashboard::Pane::preview);
    rpc::PreviewReply reply;
    reply.task = task;
    reply.state = "starting";
    reply.command = "npm run dev";
    reply.port = 20010;
    desk.answer(Purpose::act, written(reply));
    task.preview = rpc::PreviewView{"running", "http://localhost:20010", k_desk_time};
    desk.list({task});
    desk.pass(milliseconds(1));
    CHECK(desk.last(Purpose::preview).method == "task.preview");
    reply.state = "running";
    reply.url = task.preview->url;
    reply.output = "compiled\n";
    desk.answer(Purpose::preview, written(reply));
    CHECK_THAT(desk.screen(), Holds("compiled") && Holds("http://localhost:20010") && Holds("6 try"));
    desk.sent.clear();
    desk.pass(milliseconds(600));
    CHECK(desk.has_sent(Purpose::preview));
    desk.answer(Purpose::preview, written(reply));
    desk.press("T");
    act = desk.last(Purpose::act);
    CHECK(act.method == "task.try");
    CHECK(act.params["stop"] == true);
    reply.state = "ended";
    reply.url.clear();
    reply.why = "was stopped";
    desk.answer(Purpose::act, written(reply));
    task.preview = rpc::PreviewView{"ended", "", k_desk_time};
    desk.list({task});
    desk.pass(milliseconds(600));
    while (desk.has_sent(Purpose::preview)) desk.answer(Purpose::preview, written(reply));
    desk.pass(milliseconds(600));
    CHECK_FALSE(desk.has_sent(Purpose::preview));
    CHECK_THAT(desk.screen(), !Holds("http://localhost:20010"));
}

TEST_CASE("An event of the task makes its pane new, an event of another one does not") {
    Desk desk({in_review("aaaa0000"), running("bbbb0000")}, 120, 40);
    desk.press("4");
    desk.pass(milliseconds(200));
    desk.answer(Purpose::history, Json{{"events", Json::array()}});
    desk.sent.clear();
    desk.event("bbbb0000");
    desk.pass(milliseconds(100));
    CHECK_FALSE(desk.has_sent(Purpose::history));
    desk.event("aaaa0000");
    desk.pass(milliseconds(100));
    CHECK(desk.has_sent(Purpose::history));
}

TEST_CASE("The diff, TASK.md and why have colours where they mean something") {
    Desk desk({in_review("aaaa0000")}, 120, 40);
    desk.press("2");
    desk.pass(milliseconds(200));
    rpc::TaskDiff::Reply diff;
    diff.changes = {2, 1, 1, 1, false};
    diff.stat = " a.txt | 2 +-\n";
    diff.text = "diff --git a/a.txt b/a.txt\n@@ -1 +1 @@\n-old\n+new\n";
    desk.answer(Purpose::diff, written(diff));
    const auto look_at = [&](const std::string& text) {
        for (const auto& row : desk.frame().rows) {
            for (const auto& span : row.spans) {
                if (span.text.starts_with(text)) return span.look;
            }
        }
        FAIL("not on the screen: " + text);
        return dashboard::Look{};
    };
    CHECK(look_at("+new") == dashboard::k_green);
    CHECK(look_at("-old") == dashboard::k_red);
    desk.press("v");
    desk.pass(milliseconds(200));
    rpc::TaskShow::Reply show;
    show.task = in_review("aaaa0000");
    show.body = "## Handoff\n\nDONE: all of it\n\n- a list\n\n```\ncode\n```\n";
    desk.answer(Purpose::task, written(show));
    CHECK(look_at("## Handoff").bold);
    CHECK(look_at("code") == dashboard::k_cyan);
    desk.press("5");
    desk.pass(milliseconds(200));
    rpc::TaskWhy::Reply why;
    why.task = in_review("aaaa0000");
    why.waiting_for = "you: look at it";
    rpc::EdgeView edge;
    edge.to = "done";
    edge.by = {"system"};
    edge.open = true;
    why.edges = {edge};
    desk.answer(Purpose::why, written(why));
    CHECK_THAT(desk.screen(), Holds("○ reviewing"));
    CHECK_THAT(desk.screen(), Holds("✓ → done"));
    CHECK(look_at("✓") == dashboard::k_green);
}

TEST_CASE("Long lines of the agent's screen wrap, and frames that are wider than the pane do not") {
    dashboard::PaneText text;
    text.reply = Json{{"text",
                       "\x1b[31mError: cannot find mo\x1b[0mdule x\n"
                       "────────────────────\n"
                       "│ ok                │\n"
                       "\n"}};
    const auto lines = rows_of_pane(dashboard::Pane::screen, text, 12);
    std::vector<std::string> shown;
    for (const auto& line : lines) shown.push_back(line.text());
    CHECK(shown == std::vector<std::string>{"Error: canno", "t find modul", "e x", "────────────", "│ ok        ", ""});
    REQUIRE(lines.size() > 1);
    CHECK(lines[1].spans.size() == 2);  // the colour goes on
}

TEST_CASE("Long lines of a diff wrap, and keep their colour") {
    rpc::TaskDiff::Reply diff;
    diff.changes = {1, 1, 1, 0, false};
    diff.text = "diff --git a/a b/a\n+0123456789abcdef\n";
    dashboard::PaneText text;
    text.reply = written(diff);
    const auto lines = rows_of_pane(dashboard::Pane::diff, text, 12);
    REQUIRE(lines.size() >= 2);
    CHECK(lines[lines.size() - 2].text() == "+0123456789a");
    CHECK(lines.back() == dashboard::Line("bcdef", dashboard::k_green));
}

TEST_CASE("A pane scrolls, and the agent's screen from its end") {
    Desk desk({running("aaaa0000")}, 120, 40);
    desk.pass(milliseconds(1));
    std::string text;
    for (int i = 0; i < 200; ++i) text += "line " + std::to_string(i) + "\n";
    desk.answer(Purpose::screen, Json{{"text", text}});
    CHECK_THAT(desk.screen(), Holds("line 199"));
    desk.press("K");
    CHECK_THAT(desk.screen(), !Holds("line 199"));
    desk.sent.clear();
    desk.pass(milliseconds(1000));
    CHECK(desk.sent.empty());  // scrolled back, it stands still
    desk.press("Esc");
    CHECK_THAT(desk.screen(), Holds("line 199"));
}

TEST_CASE("In a pane that covers the list, j and k change the task, J and K scroll, and q goes back") {
    Desk desk({running("aaaa0000"), running("bbbb0000")});
    desk.press("2");
    desk.press("j");
    CHECK(desk.core.state().selected == "bbbb0000");
    desk.pass(milliseconds(200));
    std::string text;
    for (int i = 0; i < 100; ++i) text += "+line " + std::to_string(i) + "\n";
    rpc::TaskDiff::Reply diff;
    diff.changes = {1, 1, 100, 0, false};
    diff.text = text;
    std::erase_if(desk.sent, [](const auto& request) { return request.task != "bbbb0000"; });
    desk.answer(Purpose::diff, written(diff));
    CHECK_THAT(desk.screen(), Holds("[2 diff]") && Holds("Summary of bbbb0000") && Holds("+line 0"));
    for (int i = 0; i < 20; ++i) desk.press("J");
    CHECK_THAT(desk.screen(), Holds("+line 99"));
    for (int i = 0; i < 20; ++i) desk.press("K");
    CHECK_THAT(desk.screen(), Holds("+line 0"));
    desk.press("k");
    CHECK(desk.core.state().selected == "aaaa0000");
    for (const char* key : {"q", "C-c"}) {
        desk.press("1");
        desk.press(key);
        CHECK(desk.outside.empty());
        CHECK_THAT(desk.screen(), Holds("RUNNING 2"));
    }
    desk.press("q");
    CHECK(desk.outside.size() == 1);
}

TEST_CASE("Tall and narrow, the pane is below the list, and wide beside it") {
    Desk tall({running("aaaa0000")}, 80, 50);
    CHECK(dashboard::layout_of(tall.core.state()).pane.row > 10);
    Desk wide({running("aaaa0000")}, 110, 24);
    CHECK(dashboard::layout_of(wide.core.state()).pane.column > 10);
    Desk narrow({running("aaaa0000")}, 109, 24);
    CHECK(dashboard::layout_of(narrow.core.state()).pane.height == 0);
}

namespace {

/// A diff of two files, the first with two parts, each of `rows` lines.
std::string long_diff(int rows) {
    std::string text;
    const auto part = [&](const std::string& name) {
        text += "@@ -1 +1," + std::to_string(rows) + " @@ " + name + "\n";
        for (int i = 0; i < rows; ++i) text += "+" + name + " line " + std::to_string(i) + "\n";
    };
    text += "diff --git a/one b/one\n";
    part("first");
    part("second");
    text += "diff --git a/two b/two\n";
    part("third");
    return text;
}

Desk with_diff(int width = 80, int height = 24) {
    Desk desk({running("aaaa0000"), running("bbbb0000")}, width, height);
    desk.press("2");
    rpc::TaskDiff::Reply diff;
    diff.changes = {1, 2, 60, 0, false};
    diff.text = long_diff(30);
    desk.answer(Purpose::diff, written(diff));
    desk.sent.clear();
    return desk;
}

std::string found_row(const Desk& desk) {
    const auto& state = desk.core.state();
    const auto& text = state.panes.at(state.pane);
    return text.found ? text.lines.at(*text.found).text() : std::string();
}

}  // namespace

TEST_CASE("A pane gets the keys by its digit or the arrow, and gives them back") {
    for (const char* give : {"2", "Right"}) {
        for (const char* back : {"Left", "Esc", "q"}) {
            auto desk = with_diff();
            const auto selected = desk.core.state().selected;
            desk.press(give);
            CHECK_THAT(desk.screen(), Holds("diff has the keys"));
            desk.press("j");
            CHECK(desk.core.state().selected == selected);
            CHECK(desk.core.state().panes.at(dashboard::Pane::diff).cursor == 1);
            desk.press(back);
            CHECK_THAT(desk.screen(), !Holds("has the keys"));
            desk.press("j");
            CHECK(desk.core.state().selected != selected);
            CHECK(desk.outside.empty());
        }
    }
}

TEST_CASE("In a pane that has the keys, files and parts are gone to, and its place is said") {
    auto desk = with_diff(140, 40);
    desk.press("2");
    desk.press("]");
    CHECK(found_row(desk) == "diff --git a/one b/one");
    desk.press("}");
    CHECK_THAT(found_row(desk), Holds("first"));
    desk.press("}");
    CHECK_THAT(found_row(desk), Holds("@@") && Holds("second"));
    const auto view = dashboard::view_of(desk.core.state());
    CHECK_THAT(desk.screen(), Holds(std::to_string(view.top + 1) + "-" + std::to_string(view.top + view.rows) + " of " +
                                    std::to_string(view.all)));
    desk.press("{");
    CHECK_THAT(found_row(desk), Holds("first"));
    desk.press("]");
    CHECK(found_row(desk) == "diff --git a/two b/two");
    desk.press("[");
    CHECK(found_row(desk) == "diff --git a/one b/one");
    desk.press("[");
    CHECK(dashboard::view_of(desk.core.state()).top == 0);
    desk.press("[");
    CHECK_THAT(desk.screen(), Holds("none before"));
    desk.press("g");
    for (const char* key : {"}", "}", "}", "}"}) desk.press(key);
    CHECK_THAT(found_row(desk), Holds("third"));
    CHECK_THAT(desk.screen(), Holds("none after"));
    desk.press("Enter");  // what a pane has no use for stays as it is
    CHECK(desk.outside.size() == 1);
}

TEST_CASE("A text is found in a pane, again behind it, and not again where there is none") {
    auto desk = with_diff();
    desk.press("2");
    desk.press("n");
    CHECK_THAT(desk.screen(), Holds("/ finds"));
    desk.press("/");
    desk.type("line 7");
    desk.press("Enter");
    const auto found = [&] { return found_row(desk); };
    CHECK(found() == "+first line 7");
    CHECK_THAT(desk.screen(), Holds("+first line 7"));
    desk.press("n");
    CHECK(found() == "+second line 7");
    desk.press("n");
    CHECK(found() == "+third line 7");
    desk.press("n");
    CHECK(found() == "+first line 7");
    desk.press("N");
    CHECK(found() == "+third line 7");
    CHECK_THAT(desk.screen(), Holds("+third line 7"));
    CHECK(desk.core.state().search.empty());  // the list is as it was
    desk.press("/");
    desk.type("nowhere");
    desk.press("Enter");
    CHECK(found().empty());
    CHECK_THAT(desk.screen(), Holds("nowhere"));
}

TEST_CASE("z cuts long lines of a pane, and wraps them again") {
    Desk desk({running("aaaa0000")});
    desk.press("2");
    rpc::TaskDiff::Reply diff;
    diff.changes = {1, 1, 1, 0, false};
    diff.text = "diff --git a/x b/x\n@@ -1 +1 @@\n+" + std::string(100, 'w') + "END\n";
    desk.answer(Purpose::diff, written(diff));
    CHECK_THAT(desk.screen(), Holds("END"));
    desk.press("2");
    desk.press("z");
    CHECK_THAT(desk.screen(), !Holds("END"));
    desk.press("z");
    CHECK_THAT(desk.screen(), Holds("END"));
}
