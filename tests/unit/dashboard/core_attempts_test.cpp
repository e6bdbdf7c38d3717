#include "common/base/text.hpp"
#include "common/rpc/attempt_methods.hpp"
#include "tests/facts.hpp"
#include "tests/unit/dashboard/desk.hpp"

using namespace orange;
using namespace orange::tests;
using dashboard::Pane;
using dashboard::Purpose;

namespace {

constexpr const char* k_tried = "pppp0000";

rpc::TaskView attempt_of(const std::string& parent, rpc::TaskView view, const std::string& name) {
    view.fields.parent.value = parent;
    view.fields.summary = "Speed up the import";
    view.attempt = name;
    view.needs = {};
    view.can.insert(view.can.end(), {"compare", "pick"});
    return view;
}

/// A task and three attempts, of which the second one still works.
std::vector<rpc::TaskView> tried_task(const std::string& id = k_tried, const std::string& picked = {}) {
    auto parent = task_view(id, "delegated", Need::review, {"compare", "cancel", "delete"});
    parent.fields.summary = "Speed up the import";
    parent.attempts = 3;
    parent.picked = picked;
    parent.needs.text = "3 attempts to compare";
    parent.needs.command = task_command("compare", id);
    std::vector<rpc::TaskView> all = {attempt_of(id, in_review("aaaa0000"), "claude"),
                                      attempt_of(id, running("bbbb0000"), "codex"),
                                      attempt_of(id, in_review("cccc0000"), "claude:high")};
    for (const auto& each : all) parent.children.push_back(each.fields.id.value);
    const std::vector<std::string> offers =
        picked.empty() ? std::vector<std::string>{"pick"} : std::vector<std::string>{"merge", "create_pr"};
    parent.can.insert(parent.can.end(), offers.begin(), offers.end());
    if (!picked.empty()) std::erase_if(all, [&](const auto& each) { return each.fields.id.value != picked; });
    all.insert(all.begin(), parent);
    return all;
}

Json comparison(const std::string& id = k_tried) {
    rpc::TaskCompare::Reply reply;
    reply.task = tried_task(id).front();
    for (const auto& [attempt, name] : std::initializer_list<std::pair<const char*, const char*>>{
             {"aaaa0000", "claude"}, {"bbbb0000", "codex"}, {"cccc0000", "claude:high"}}) {
        auto& row = reply.rows.emplace_back();
        row.id = attempt;
        row.short_id = row.id.substr(0, 4);
        row.name = name;
        row.harness = row.name.substr(0, row.name.find(':'));
        row.version = "2.1.34";
        row.status = "reviewing";
        row.checks = "passed";
        row.changes = rpc::ChangeCounts{2, 3, 40, 2, false};
        row.worked = 900;
        row.tokens = 41'000;
    }
    reply.common = {"import.py"};
    return written(reply);
}

/// The task is selected, and its attempts are on the screen.
Desk compared_desk() {
    Desk desk(tried_task());
    desk.press("Enter");
    desk.answer(Purpose::compare, comparison());
    desk.screen();
    return desk;
}

Json reply_of(const rpc::TaskView& task) {
    rpc::TaskReply reply;
    reply.task = task;
    return written(reply);
}

Error not_picked(const std::string& attempt) {
    Error error(ErrorCode::conflict, "claude is not picked", {{"why", "not_picked"}, {"parent", k_tried}});
    if (!attempt.empty()) error.details["attempt"] = attempt;
    return error;
}

}  // namespace

TEST_CASE("From a sentence to the merged winner of three attempts are nine keys") {
    Desk desk;
    int keys = 0;
    const auto press = [&](const char* key) {
        ++keys;
        desk.press(key);
    };
    press("c");
    desk.type("Speed up the import");
    press("S-Tab");
    desk.type("claude, codex,claude:high");
    press("Enter");
    const auto created = desk.last(Purpose::create);
    CHECK(created.params.at("attempts") == Json{"claude", "codex", "claude:high"});
    CHECK(created.params.at("summary") == "Speed up the import");
    const auto id = created.task;
    desk.answer(Purpose::create, Json{{"task", Json::object()}});
    desk.list(tried_task(id));
    REQUIRE(desk.core.state().selected == id);
    CHECK_THAT(desk.footer(), Holds("Enter compare"));

    press("Enter");
    CHECK(desk.last(Purpose::compare).params.at("id") == id);
    desk.answer(Purpose::compare, comparison(id));
    CHECK_THAT(desk.screen(), Holds("claude:high") && Holds("import.py"));
    press("j");
    press("Enter");
    CHECK_THAT(desk.screen(), Holds("Pick codex?") && Holds("claude (reviewing)") && Holds("claude:high (reviewing)"));
    CHECK(desk.methods().empty());
    press("y");
    const auto pick = desk.last(Purpose::act);
    CHECK(pick.method == "task.pick");
    CHECK(pick.params.at("id") == id);
    CHECK(pick.params.at("attempt") == "bbbb0000");
    auto picked = tried_task(id, "bbbb0000");
    picked[1].can = {"attach", "merge", "create_pr", "cancel"};
    desk.answer(Purpose::act, reply_of(picked[0]));
    desk.list(picked);

    press("m");
    CHECK_THAT(desk.screen(), Holds("Merge branch-bbbb0000 into main?"));
    press("y");
    const auto merge = desk.last(Purpose::act);
    CHECK(merge.method == "task.merge");
    CHECK(merge.params.at("id") == "bbbb0000");
    CHECK(keys == 9);
}

TEST_CASE("The comparison has the whole screen and the keys, and Esc goes back") {
    auto desk = compared_desk();
    CHECK(desk.core.state().pane == Pane::compare);
    CHECK(dashboard::pane_has_keys(desk.core.state()));
    CHECK_THAT(desk.footer(), Holds("Enter pick"));
    for (const auto& row : desk.frame().rows) CHECK(row.width() == 80);
    const auto text = desk.screen();
    CHECK_THAT(text, Holds("2.1.34") && Holds("+40 -2") && Holds("15m") && Holds("41k"));
    for (const auto line : split_lines(text)) {
        if (line.starts_with("claude") || line.starts_with("codex")) CHECK_THAT(std::string(line), !Holds("…"));
    }
    desk.press("Esc");
    CHECK(desk.core.state().pane == Pane::screen);
    CHECK_THAT(desk.screen(), Holds("NEEDS YOU"));
    Desk wide(tried_task(), 160, 40);
    CHECK_THAT(wide.screen(), Holds("6 compare"));
    wide.press("6");
    CHECK(wide.core.state().pane == Pane::compare);
    wide.press("Tab");
    CHECK(wide.core.state().pane == Pane::screen);
}

TEST_CASE("The cursor goes from attempt to attempt, and stays at its attempt when the numbers change") {
    auto desk = compared_desk();
    const auto at = [&] {
        const auto& text = desk.core.state().panes.at(Pane::compare);
        return text.places.all.at(text.cursor).attempt;
    };
    CHECK(at() == "aaaa0000");
    desk.press("k");
    CHECK(at() == "aaaa0000");
    desk.press("G");
    CHECK(at() == "cccc0000");
    desk.press("k");
    CHECK(at() == "bbbb0000");
    auto next = comparison();
    next["rows"][0]["note"] = "it is stuck";
    std::swap(next["rows"][1], next["rows"][2]);
    desk.event("bbbb0000");  // of an attempt, not of the task that is shown
    desk.pass(std::chrono::milliseconds(200));
    desk.answer(Purpose::compare, next);
    CHECK_THAT(desk.screen(), Holds("it is stuck"));
    CHECK(at() == "bbbb0000");
    desk.press("D");
    REQUIRE_FALSE(desk.outside.empty());
    CHECK(desk.outside.back().argv == std::vector<std::string>{"orange", "task", "diff", "bbbb0000"});
}

TEST_CASE("m on a task without a picked attempt shows the attempts, and merges nothing") {
    Desk desk(tried_task());
    desk.press("m");
    CHECK(desk.core.state().pane == Pane::compare);
    CHECK_FALSE(desk.core.state().question);
    CHECK(desk.methods().empty());
    desk.press("m");
    CHECK(desk.methods().empty());
    CHECK(desk.core.state().pane == Pane::compare);
}

TEST_CASE("Several tasks are merged without one that has no picked attempt") {
    auto tasks = tried_task();
    tasks.push_back(in_review("dddd0000"));
    tasks.push_back(in_review("eeee0000"));
    Desk desk(tasks);
    desk.press("*");
    desk.press("m");
    CHECK(desk.last(Purpose::train).params.at("ids") == Json{"dddd0000", "eeee0000"});
}

TEST_CASE("A merge of an attempt that is not picked asks to pick it, and goes on after that") {
    Desk desk(tried_task());
    desk.press("j");
    REQUIRE(desk.core.state().selected == "aaaa0000");
    desk.press("m");
    desk.press("y");
    REQUIRE(desk.last(Purpose::act).method == "task.merge");
    desk.answer(Purpose::act, not_picked("aaaa0000"));
    CHECK_THAT(desk.screen(), Holds("Pick claude?") && Holds("codex (working)") && Holds("claude:high (reviewing)"));
    desk.press("y");
    auto request = desk.last(Purpose::act);
    CHECK(request.method == "task.pick");
    CHECK(request.params.at("id") == k_tried);
    CHECK(request.params.at("attempt") == "aaaa0000");
    desk.answer(Purpose::act, reply_of(tried_task(k_tried, "aaaa0000").front()));
    request = desk.last(Purpose::act);
    CHECK(request.method == "task.merge");
    CHECK(request.params.at("id") == "aaaa0000");
    desk.answer(Purpose::act, Error(ErrorCode::conflict, "it conflicts"));
    CHECK(desk.methods().empty());

    // Any other key changes nothing, and a pick that fails merges nothing.
    for (const bool picks : {false, true}) {
        Desk other(tried_task());
        other.press("j");
        other.press("p");
        other.press("y");
        REQUIRE(other.last(Purpose::act).method == "task.create_pr");
        other.answer(Purpose::act, not_picked("aaaa0000"));
        other.press(picks ? "y" : "n");
        if (picks) other.answer(Purpose::act, Error(ErrorCode::conflict, "another one was picked meanwhile"));
        CHECK(other.methods().empty());
    }
}

TEST_CASE("A merge of the task that the daemon refuses without a pick shows the attempts") {
    auto tasks = tried_task(k_tried, "aaaa0000");
    tasks.pop_back();  // the attempt is not listed
    Desk desk(tasks);
    desk.press("m");
    desk.press("y");
    REQUIRE(desk.last(Purpose::act).params.at("id") == k_tried);
    desk.answer(Purpose::act, not_picked(""));
    CHECK(desk.core.state().pane == Pane::compare);
    CHECK(desk.methods().empty());
}

TEST_CASE("Attempts say which agents work, and not what the form remembers") {
    Desk desk({running("aaaa0000")});
    desk.core.set_last_choices({{"shop", {{"harness", "claude"}, {"effort", "xhigh"}, {"reviewer", "codex"}}}});
    desk.press("c");
    CHECK_THAT(desk.screen(), Holds("xhigh"));
    desk.press("S-Tab");
    desk.type("codex,pi");
    CHECK_THAT(desk.screen(), !Holds("xhigh"));
    desk.press("Enter");
    const auto params = desk.last(Purpose::create).params;
    CHECK_FALSE(params.contains("harness"));
    CHECK_FALSE(params.contains("effort"));
    CHECK(params.at("review_harness") == "codex");
    CHECK(params.at("attempts") == Json{"codex", "pi"});
}

TEST_CASE("A refused list of attempts opens the form at its field, and a short screen scrolls to it") {
    Desk desk({running("aaaa0000")}, 80, 16);
    desk.press("c");
    desk.type("Next");
    desk.press("S-Tab");
    desk.type("nobody");
    CHECK_THAT(desk.screen(), Holds("attempts") && Holds("nobody"));
    desk.press("Enter");
    desk.answer(Purpose::create, Error(ErrorCode::invalid_argument, "at least two", {{"field", "attempts"}}));
    desk.press("c");
    REQUIRE(desk.core.state().form);
    CHECK(desk.core.state().form->fields[desk.core.state().form->at].name == "attempts");
    desk.press("C-u");
    desk.press("Enter");
    CHECK_FALSE(desk.last(Purpose::create).params.contains("attempts"));
}

TEST_CASE("A dashboard that is read-only compares attempts, and picks none") {
    dashboard::State initial;
    initial.read_only = true;
    Desk desk(tried_task(), 80, 24, initial);
    desk.press("6");
    desk.press("6");
    desk.answer(Purpose::compare, comparison());
    desk.screen();
    desk.press("Enter");
    CHECK_FALSE(desk.core.state().question);
    desk.press("m");
    CHECK(desk.methods().empty());
}
