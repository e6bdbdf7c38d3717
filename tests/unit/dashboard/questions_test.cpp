// Questions, typed texts, several tasks at once, and the form.
#include "common/model/notice_kinds.hpp"
#include "common/rpc/harness_methods.hpp"
#include "tests/facts.hpp"
#include "tests/unit/dashboard/desk.hpp"

using namespace orange;
using namespace orange::tests;
using dashboard::Outside;
using dashboard::Purpose;
using std::chrono::milliseconds;

TEST_CASE("Only y is yes") {
    for (const char* key : {"n", "Enter", "Esc", " ", "m", "Y", "q", "C-c"}) {
        Desk desk({in_review("aaaa0000")});
        desk.press("m");
        REQUIRE(desk.core.state().question);
        desk.press(key);
        CHECK_FALSE(desk.core.state().question);
        CHECK(desk.methods().empty());
        CHECK(desk.outside.empty());
    }
}

TEST_CASE("A question names the branch, where it goes, and how much it is") {
    auto view = in_review("aaaa0000");
    view.committed = rpc::ChangeCounts{3, 2, 40, 2, false};
    Desk desk({view});
    desk.press("m");
    const auto text = desk.screen();
    CHECK_THAT(text, Holds("Merge branch-aaaa0000 into main?"));
    CHECK_THAT(text, Holds("3 commits in 2 files, +40 -2"));
}

TEST_CASE("The question about a sub-task that goes into its parent's branch names that and the parent") {
    auto view = in_review("aaaa0000");
    view.fields.parent = TaskId{"bbbb0000"};
    view.merges_into = "fix/total";
    Desk desk({view, running("bbbb0000")});
    desk.press("m");
    CHECK_THAT(desk.screen(), Holds("Merge branch-aaaa0000 into the branch of task bbbb (fix/total)?"));
}

TEST_CASE("The question about a merge says which other tasks will conflict after it") {
    auto view = in_review("aaaa0000");
    view.clashes = {{"bbbb0000", "bbbb", "", {{"cart.py", 2}}}, {"", "", "main", {{"b.c", 1}}}};
    Desk desk({view});
    desk.press("m");
    CHECK_THAT(desk.screen(), Holds("After this, bbbb will conflict in cart.py") && !Holds("main will conflict"));
    // If the merge needs force, the daemon's question says it, too.
    auto forced = view;
    forced.can = {"force_merge", "cancel", "delete"};
    Desk other({forced});
    other.press("m");
    const std::map<std::string, std::string> details = {{"facts", "not reviewed"}, {"question", "Force merge?"}};
    other.answer(Purpose::act, Error(ErrorCode::needs_force, "not reviewed", details));
    CHECK_THAT(other.screen(), Holds("Force merge?") && Holds("After this, bbbb will conflict in cart.py"));
    Desk open({forced});
    open.press("m");
    open.answer(Purpose::act, Error(ErrorCode::conflict, "it is open",
                                    {{"why", "pull_request_open"}, {"url", "https://github.com/a/b/pull/7"}}));
    CHECK_THAT(open.screen(), Holds("merge the branch here") && Holds("After this, bbbb will conflict in cart.py"));
}

namespace {

Json diff_of(const std::string& tip, const std::string& text, bool uncommitted = false) {
    rpc::TaskDiff::Reply diff;
    diff.tip = tip;
    diff.changes = {1, 1, 1, 0, uncommitted};
    diff.text = text;
    return written(diff);
}

Json body_of(const rpc::TaskView& task, const std::string& body) {
    rpc::TaskShow::Reply shown;
    shown.task = task;
    shown.body = body;
    return written(shown);
}

}  // namespace

TEST_CASE("Who merges sees the changes, and merges them and nothing later") {
    Desk desk({in_review("aaaa0000")});
    desk.press("m");
    desk.answer(Purpose::about, diff_of("c0ffee", "+a new line\n"));
    CHECK_THAT(desk.screen(), Holds("+a new line") && Holds("Merge branch-aaaa0000 into main?"));
    desk.press("y");
    CHECK(desk.last(Purpose::act).params.at("tip") == "c0ffee");
    CHECK_THAT(desk.screen(), !Holds("+a new line"));
    desk.answer(Purpose::act, Error(ErrorCode::conflict, "it has moved", {{"moved", "decade"}}));
    REQUIRE(desk.core.state().question);  // the same again, about what is there now
    desk.answer(Purpose::about, diff_of("decade", "+another line\n"));
    CHECK_THAT(desk.screen(), Holds("+another line"));
    desk.press("y");
    CHECK(desk.last(Purpose::act).params.at("tip") == "decade");
    Desk dirty({in_review("aaaa0000")});
    dirty.press("m");
    dirty.answer(Purpose::about, diff_of("a tree", "+x\n", true));
    dirty.press("y");
    CHECK_FALSE(dirty.last(Purpose::act).params.contains("tip"));
}

TEST_CASE("One question says what a merge has to confirm and where it conflicts, and y confirms what it said") {
    auto task = in_review("aaaa0000");
    task.can.emplace_back("update_branch");
    Desk desk({task});
    desk.press("m");
    CHECK(desk.last(Purpose::about).params.at("merge") == true);
    desk.pass(milliseconds(1100));  // git is slow: the question can be answered
    rpc::TaskDiff::Reply diff;
    diff.commit = diff.tip = "c0ffee";
    diff.changes = {1, 1, 1, 0, false};
    diff.concerns = "2 commits since the review of decade\nthe review is not verified";
    diff.confirms = diff.concerns + "\n";
    diff.conflicts = {"src/total.cpp"};
    desk.answer(Purpose::about, written(diff));
    const auto text = desk.screen();
    CHECK_THAT(text, Holds("2 commits since the review") && Holds("the review is not verified"));
    CHECK_THAT(text, Holds("conflict in src/total.cpp") && Holds("u merges"));
    desk.press_at_once("y");  // it was not read yet
    REQUIRE(desk.core.state().question);
    desk.press("y");
    const auto params = desk.last(Purpose::act).params;
    CHECK(params.at("tip") == "c0ffee");
    CHECK(params.at("confirmed").get<std::string>() == diff.confirms);
    CHECK(params.value("force", false) == false);
    // Without concerns nothing is forced.
    Desk clean({in_review("aaaa0000")});
    clean.press("m");
    clean.answer(Purpose::about, diff_of("c0ffee", "+x\n"));
    clean.press("y");
    CHECK_FALSE(clean.last(Purpose::act).params.contains("confirmed"));
}

TEST_CASE("The question about several tasks lists each with its lines, and those that are left out") {
    auto first = in_review("aaaa0000");
    first.committed = rpc::ChangeCounts{1, 1, 12, 3, false};
    Desk desk({first, in_review("bbbb0000"), crashed("cccc0000")}, 80, 24);
    for (const char* key : {"g", "Space", "Space", "Space", "m"}) desk.press(key);
    const auto text = desk.screen();
    CHECK_THAT(text, Holds("Summary of aaaa0000") && Holds("+12 -3") && Holds("Summary of bbbb0000"));
    desk.press("y");
    CHECK_FALSE(desk.core.state().about);
}

TEST_CASE("U goes on with the work of a cancelled task in a new one, and selects that") {
    auto task = ended("aaaa0000");
    task.fields.status = "cancelled";
    task.needs.command = OrangeCommand::from_text("orange task restore aaaa0000 --create");
    Desk desk({task, running("bbbb0000")});
    for (int i = 0; i < 3; ++i) desk.press("f");
    REQUIRE(desk.core.state().selected == "aaaa0000");
    desk.press("U");
    CHECK_THAT(desk.screen(), Holds("in a new task?"));
    desk.press("y");
    CHECK(desk.last(Purpose::act).method == "task.restore");
    CHECK(desk.last(Purpose::act).params.at("create") == true);
    desk.answer(Purpose::act,
                Json{{"branch", "b-restored"}, {"commit", "c0ffee"}, {"task", written(running("cccc0000"))}});
    CHECK(desk.core.state().selected == "cccc0000");
}

TEST_CASE("A notice besides the need has a mark in the row") {
    auto task = in_review("aaaa0000");
    Notice notice;
    notice.kind = NoticeKind::unverified_review;
    notice.text = "the reviewer did not set this status";
    task.notices = {notice};
    Desk desk({task, in_review("bbbb0000")});
    CHECK_THAT(desk.screen(), Holds(" !"));
    task.notices.front().text = task.needs.text;
    Desk plain({task});
    CHECK_THAT(plain.screen(), !Holds(" !"));
}

TEST_CASE("A merge is of the branch's commit, although files are not committed, and y waits for the changes") {
    Desk desk({in_review("aaaa0000")});
    desk.press("m");
    desk.pass(milliseconds(500));
    desk.press_at_once("y");
    REQUIRE(desk.core.state().question);
    auto diff = diff_of("a tree", "+x\n", true);
    diff["commit"] = "c0ffee";
    desk.answer(Purpose::about, diff);
    CHECK_THAT(desk.screen(), Holds("not committed are not merged"));
    desk.press_at_once("y");
    CHECK(desk.last(Purpose::act).params.at("tip") == "c0ffee");
}

TEST_CASE("A question that waits for another one shows its changes when it is its turn") {
    Desk desk({running("aaaa0000"), in_review("bbbb0000")});
    desk.press("G");
    REQUIRE(desk.core.state().selected == "aaaa0000");
    desk.press("m");  // refused later, because it needs force
    desk.press("k");
    REQUIRE(desk.core.state().selected == "bbbb0000");
    desk.press("x");
    desk.answer(Purpose::act, Error(ErrorCode::needs_force, "it needs force", {{"question", "Merge it unreviewed?"}}));
    CHECK_FALSE(desk.has_sent(Purpose::about));
    CHECK_THAT(desk.screen(), Holds("Cancel"));
    desk.press("n");
    CHECK_THAT(desk.screen(), Holds("Merge it unreviewed?"));
    auto diff = diff_of("c0ffee", "+a new line\n");
    diff["commit"] = "c0ffee";
    desk.answer(Purpose::about, diff);
    CHECK_THAT(desk.screen(), Holds("+a new line"));
    desk.press("y");
    CHECK(desk.last(Purpose::act).task == "aaaa0000");
    CHECK(desk.last(Purpose::act).params.at("tip") == "c0ffee");
}

TEST_CASE("Who answers sees the questions, and who sends back sees the handoff and the review") {
    const std::string body =
        "## Context\n\nbackground\n\n## Questions\n\n1. Half up?\n\n```\n## Plan\n```\n2. Since when?\n\n"
        "## Handoff\n\nDONE: all\n\n## Review\n\nVerdict: PASS\n";
    auto view = in_review("aaaa0000");
    view.can.insert(view.can.end(), {"reply", "reject"});
    Desk desk({view});
    desk.press("a");
    CHECK(desk.last(Purpose::about).params.at("id") == "aaaa0000");
    desk.answer(Purpose::about, body_of(view, body));
    CHECK_THAT(desk.screen(),
               Holds("1. Half up?") && Holds("2. Since when?") && !Holds("background") && !Holds("DONE"));
    desk.type("up");
    CHECK_THAT(desk.screen(), Holds("1. Half up?") && Holds("> up"));
    desk.press("Esc");
    CHECK_THAT(desk.screen(), !Holds("1. Half up?") && Holds("NEEDS YOU"));
    desk.press("r");
    view.checked = CheckRecord{};
    view.checked->failed = "make test";
    desk.answer(Purpose::about, body_of(view, body));
    CHECK_THAT(desk.screen(), Holds("DONE: all") && Holds("Verdict: PASS") && Holds("make test") && !Holds("Half up"));
    Desk other({view, running("bbbb0000")});
    other.press("a");
    const auto late = other.last(Purpose::about);
    other.press("Esc");
    (void)other.core.on_reply(late, dashboard::Answer(body_of(view, body)), other.now);
    CHECK_THAT(other.screen(), !Holds("Half up"));
}

TEST_CASE("What stands above a question scrolls, and only there J and K are no answer") {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "+line " + std::to_string(i) + "\n";
    Desk desk({in_review("aaaa0000")});
    desk.press("m");
    desk.answer(Purpose::about, diff_of("c0ffee", text));
    CHECK_THAT(desk.screen(), Holds("+line 0"));
    CHECK_THAT(desk.footer(), Holds("J K scroll"));
    for (int i = 0; i < 30; ++i) desk.press("J");
    CHECK_THAT(desk.screen(), Holds("+line 99") && !Holds("+line 0"));
    desk.press("K");
    CHECK_THAT(desk.screen(), !Holds("+line 99"));
    REQUIRE(desk.core.state().question);
    desk.press("n");
    CHECK_FALSE(desk.core.state().question);
    desk.press("r");
    desk.type("JK");
    CHECK(desk.core.state().prompt->text == "JK");
    desk.press("x");
    Desk plain({in_review("aaaa0000")});
    plain.press("x");
    plain.press("J");
    CHECK_FALSE(plain.core.state().question);
}

TEST_CASE("r begins with the text that the task's need proposes") {
    auto view = in_review("aaaa0000");
    view.needs.command = OrangeCommand::from_text(
        "orange task update aaaa0000 --status working --feedback 'Resolve it in don'\\''t.txt'");
    Desk desk({view});
    desk.press("r");
    CHECK(desk.core.state().prompt->text == "Resolve it in don't.txt");
    desk.press("Enter");
    CHECK(desk.last(Purpose::act).params.at("feedback") == "Resolve it in don't.txt");
    Desk plain({in_review("aaaa0000")});
    plain.press("r");
    CHECK(plain.core.state().prompt->text.empty());
}

TEST_CASE("* selects what needs the same, and again nothing") {
    Desk desk({crashed("help0000"), in_review("aaaa0000"), in_review("bbbb0000"), running("cccc0000")});
    for (const char* key : {"g", "j", "*"}) desk.press(key);
    CHECK(desk.core.state().marked == std::set<std::string>{"aaaa0000", "bbbb0000"});
    desk.press("*");
    CHECK(desk.core.state().marked.empty());
}

TEST_CASE("What a merge has to confirm is the daemon's question, with the commit that it is about") {
    Desk desk({running("aaaa0000")});
    desk.press("m");
    Error refused(ErrorCode::needs_force, "not reviewed");
    refused.details = {{"facts", "the review of aaaa0000 did not pass"},
                       {"question", "Merge it anyway?"},
                       {"tip", "abc"},
                       {"short_ids", "aaaa0000=aaaa"}};
    desk.answer(Purpose::act, refused);
    CHECK_THAT(desk.screen(), Holds("Merge it anyway?"));
    desk.press_at_once("y");  // typed before it could be read
    CHECK(desk.core.state().question);
    desk.pass(milliseconds(1100));
    desk.press("y");
    const auto request = desk.last(Purpose::act);
    CHECK(request.params.at("force") == true);
    CHECK(request.params.at("tip") == "abc");
    CHECK(request.params.at("run_checks") == true);
    desk.answer(Purpose::act, refused);  // a second refusal is an error, not a question without end
    CHECK_FALSE(desk.core.state().question);
    CHECK(desk.core.state().message->bad);
}

TEST_CASE("While a pull request is open, m asks which way to merge, also if only the daemon knows of it") {
    auto view = in_review("aaaa0000");
    for (const bool is_known : {true, false}) {
        for (const char* key : {"1", "2", "n"}) {
            view.pull_request.reset();
            if (is_known) view.pull_request.emplace().number = 7;
            Desk desk({view});
            desk.press("m");
            if (!is_known) {
                desk.press("y");
                desk.answer(Purpose::act,
                            Error(ErrorCode::conflict, "pull request #7 is open", {{"why", "pull_request_open"}}));
            }
            REQUIRE(desk.core.state().question);
            CHECK_THAT(desk.screen(), Holds("#7 is open"));
            CHECK(desk.core.state().question->options.size() == 2);
            desk.press(key);
            CHECK(desk.methods().size() == (*key == 'n' ? 0U : 1U));
            if (*key == 'n') continue;
            const auto params = desk.last(Purpose::act).params;
            CHECK(params.value("via", std::string()) == (*key == '1' ? "pr" : ""));
            CHECK(params.value("local", false) == (*key == '2'));
        }
    }
    Desk closed({view});
    closed.press("m");
    closed.press("y");
    closed.answer(Purpose::act, Error(ErrorCode::conflict, "#7 was closed", {{"why", "pull_request_closed"}}));
    CHECK_THAT(closed.screen(), Holds("#7 was closed"));
    closed.press("y");
    CHECK(closed.last(Purpose::act).params.at("local") == true);
}

namespace {

Json place(const std::string& id, const std::string& reason) {
    return {{"id", id}, {"short_id", id.substr(0, 4)}, {"reason", reason}};
}

Json end_of(const std::string& id, const std::string& outcome, const std::string& reason) {
    return {{"task", written(in_review(id))}, {"outcome", outcome}, {"reason", reason}};
}

}  // namespace

TEST_CASE("Several tasks are merged in the order that the daemon says, which is the question") {
    Desk desk({in_review("aaaa0000"), in_review("bbbb0000"), in_review("cccc0000")}, 120, 40);
    for (int i = 0; i < 3; ++i) desk.press(" ");
    desk.press("m");
    CHECK_FALSE(desk.core.state().question);
    CHECK(desk.last(Purpose::train).params.at("ids").size() == 3);
    desk.answer(Purpose::train,
                Json{{"places",
                      {place("bbbb0000", "clashes with none of these"), place("cccc0000", "clashes with none of these"),
                       place("aaaa0000", "clashes with bbbb, which comes before it, in cart.py")}}});
    const auto asked = desk.screen();
    CHECK_THAT(asked, Holds("Merge 3 tasks in this order?") && Holds("which comes before it, in cart.py"));
    CHECK(asked.find("bbbb  Summary of bbbb0000") < asked.find("aaaa  Summary of aaaa0000"));
    desk.press_at_once("y");  // typed before it could be read
    CHECK(desk.methods().empty());
    desk.press("y");
    const auto request = desk.last(Purpose::act);
    CHECK(request.method == "train.merge");
    CHECK(request.params.at("ids") == Json{"bbbb0000", "cccc0000", "aaaa0000"});
    for (const char* id : {"aaaa0000", "bbbb0000", "cccc0000"}) CHECK(desk.core.state().busy.contains(id));
    desk.answer(Purpose::act,
                Json{{"ends",
                      {end_of("bbbb0000", "merged", ""), end_of("cccc0000", "merged", ""),
                       end_of("aaaa0000", "back", "conflicts with main in cart.py; merged before it: bbbb")}}});
    CHECK(desk.core.state().busy.empty());
    CHECK(desk.core.state().marked.empty());
    CHECK_THAT(desk.screen(), Holds("2 of 3") && Holds("back to its worker: conflicts with main in cart.py"));
}

TEST_CASE("A task that is built on another one is merged with that one, and alone says which comes first") {
    auto above = task_view("bbbb0000", "reviewing", Need::review, {"reject", "cancel", "delete"});
    above.fields.on.value = "aaaa0000";
    above.needs.text = "the work is ready for your review; merge aaaa first";
    Desk alone({above});
    alone.press("m");
    REQUIRE(alone.core.state().message);
    CHECK_THAT(alone.core.state().message->text, Holds("merge aaaa first") && !Holds("no such step"));
    CHECK(alone.methods().empty());
    Desk desk({in_review("aaaa0000"), above});
    for (const char* key : {" ", " ", "m"}) desk.press(key);
    CHECK(desk.last(Purpose::train).params.at("ids").size() == 2);
}

TEST_CASE("An order of tasks that are not selected any more asks nothing") {
    Desk desk({in_review("aaaa0000"), in_review("bbbb0000"), in_review("cccc0000")});
    for (const char* key : {" ", " ", "m", " ", "m"}) desk.press(key);
    const auto two = Json{{"places", {place("aaaa0000", ""), place("bbbb0000", "")}}};
    desk.answer(Purpose::train, two);
    CHECK_FALSE(desk.core.state().question);
    desk.answer(Purpose::train,
                Json{{"places", {place("aaaa0000", ""), place("bbbb0000", ""), place("cccc0000", "")}}});
    CHECK_THAT(desk.screen(), Holds("Merge 3 tasks"));
}

TEST_CASE("Several tasks of a daemon without trains are one question, done one after the other, and counted") {
    Desk desk({in_review("aaaa0000"), in_review("bbbb0000"), running("cccc0000"), in_review("dddd0000")});
    for (int i = 0; i < 4; ++i) desk.press(" ");
    CHECK_THAT(desk.screen(), Holds("4 selected"));
    desk.press("m");
    desk.answer(Purpose::train, Error(ErrorCode::invalid_argument, "there is no method train.order"));
    CHECK_THAT(desk.screen(), Holds("Merge 4 tasks"));
    desk.press("y");
    CHECK(desk.methods().size() == 1);
    desk.answer(Purpose::act, Json{{"task", Json::object()}});
    desk.answer(Purpose::act, Error(ErrorCode::conflict, "README.md conflicts with main"));
    desk.answer(Purpose::act, Error(ErrorCode::needs_force, "not reviewed", {{"question", "Merge?"}, {"facts", "f"}}));
    CHECK_FALSE(desk.core.state().question);
    desk.answer(Purpose::act, Json{{"task", Json::object()}});
    const auto text = desk.screen();
    CHECK_THAT(text, Holds("2 of 4"));
    CHECK_THAT(text, Holds("README.md"));
    CHECK(desk.core.state().marked.empty());
}

TEST_CASE("A task that has not ended is cancelled by its deletion, and the question says so") {
    Desk desk({running("aaaa0000"), ended("bbbb0000")});
    desk.press("d");
    CHECK_THAT(desk.screen(), Holds("Summary of aaaa0000\" has not ended"));
    desk.press("y");
    CHECK(desk.last(Purpose::act).params.at("force") == true);
}

TEST_CASE("Who cancels a task is asked about its sub-tasks that have not ended") {
    auto parent = running("aaaa0000");
    parent.children = {"bbbb0000"};
    for (const bool also : {true, false}) {
        Desk desk({parent, running("bbbb0000")});
        desk.press("x");
        desk.press("y");
        CHECK(desk.last(Purpose::act).params.at("ask_children") == true);
        desk.answer(Purpose::act, Error(ErrorCode::needs_force, "1 sub-task has not ended. To cancel it, too:\n  …",
                                        {{"children", "bbbb0000"}}));
        CHECK_THAT(desk.screen(), Holds("and its sub-tasks?") && Holds("1 sub-task has not ended:"));
        desk.press(also ? "1" : "2");
        const auto request = desk.last(Purpose::act);
        CHECK(request.method == "task.cancel");
        CHECK(request.params.value("with_children", false) == also);
        CHECK_FALSE(request.params.value("ask_children", false));
    }
    Desk unsure({parent, running("bbbb0000")});
    unsure.press("x");
    unsure.press("y");
    unsure.answer(Purpose::act, Error(ErrorCode::needs_force, "1 sub-task has not ended. …", {{"children", "bbbb"}}));
    unsure.press("Esc");
    CHECK(unsure.methods().empty());
    CHECK_THAT(unsure.screen(), Holds("Nothing was changed"));
    auto child = running("bbbb0000");
    child.fields.parent = TaskId{"aaaa0000"};
    Desk several({parent, running("cccc0000"), child});
    for (const char* key : {" ", "j", " ", "x"}) several.press(key);
    CHECK_THAT(several.screen(), Holds("Sub-tasks that have not ended go on"));
    Desk whole({parent, child});
    whole.press(" ");
    whole.press(" ");
    whole.press("x");
    CHECK_THAT(whole.screen(), Holds("Cancel 2 tasks?") && !Holds("Sub-tasks that have not ended go on"));
    Desk deleted({parent, child});
    deleted.press("d");
    CHECK_THAT(deleted.screen(), Holds("Sub-tasks that have not ended go on"));
}

TEST_CASE("A rejection, an answer and a message are typed in one line") {
    auto asking = running("aaaa0000");
    asking.can.insert(asking.can.end(), {"reply", "reject"});
    struct Case {
        const char* key;
        const char* method;
        const char* name;
    };
    for (const auto& each :
         {Case{"r", "task.reject", "feedback"}, Case{"a", "task.reply", "text"}, Case{"s", "task.send", "text"}}) {
        Desk desk({asking});
        desk.press(each.key);
        desk.type("Pleasr");
        desk.press("Backspace");
        desk.type("e q");
        desk.press("Enter");
        const auto request = desk.last(Purpose::act);
        CHECK(request.method == each.method);
        CHECK(request.params.at(each.name) == "Please q");
    }
}

TEST_CASE("A text that was left, or that the daemon refused, is offered again") {
    Desk desk({in_review("aaaa0000")});
    desk.press("r");
    desk.type("half");
    desk.press("Esc");
    CHECK(desk.methods().empty());
    desk.press("r");
    CHECK(desk.core.state().prompt->text == "half");
    desk.press("Enter");
    desk.answer(Purpose::act, Error(ErrorCode::conflict, "no"));
    desk.press("r");
    CHECK(desk.core.state().prompt->text == "half");
    desk.press("Enter");
    desk.answer(Purpose::act, Json{{"task", Json::object()}});
    desk.press("r");
    CHECK(desk.core.state().prompt->text.empty());
}

TEST_CASE("A long text is written in the editor") {
    Desk desk({in_review("aaaa0000")});
    desk.press("r");
    desk.type("one");
    desk.press("C-e");
    REQUIRE(desk.outside.size() == 1);
    CHECK(desk.outside[0].what == Outside::What::edit);
    CHECK(desk.outside[0].text == "one");
    (void)desk.core.on_edited("one\ntwo\n", desk.now);
    desk.press("Enter");
    CHECK(desk.last(Purpose::act).params.at("feedback") == "one\ntwo");
}

TEST_CASE("Typing works by graphemes") {
    std::string text = "a日e\xcc\x81z";
    std::size_t cursor = text.size();
    dashboard::edit_line(text, cursor, "Left");
    dashboard::edit_line(text, cursor, "Backspace");
    CHECK(text == "a日z");
    dashboard::edit_line(text, cursor, "Backspace");
    CHECK(text == "az");
    dashboard::edit_line(text, cursor, "é");
    CHECK(text == "aéz");
    dashboard::edit_line(text, cursor, "Home");
    dashboard::edit_line(text, cursor, "Delete");
    CHECK(text == "éz");
    CHECK_FALSE(dashboard::edit_line(text, cursor, "F5"));
    text = "a\n";
    cursor = text.size();
    dashboard::edit_line(text, cursor, "Backspace");
    CHECK(text == "a");
}

TEST_CASE("The form creates a task, and keeps what was typed until the daemon has it") {
    Desk desk({running("aaaa0000")});
    desk.press("c");
    REQUIRE(desk.core.state().form);
    desk.answer(Purpose::harnesses, Json{{"harnesses", Json::array()}, {"searched", Json::array()}});
    desk.type("Round q");
    desk.press("Esc");
    CHECK_FALSE(desk.core.state().form);
    desk.press("c");
    CHECK(desk.core.state().form->fields[0].value == "Round q");
    desk.press("Enter");
    const auto request = desk.last(Purpose::create);
    CHECK(request.params.at("summary") == "Round q");
    CHECK(request.params.at("project") == "shop");
    CHECK(request.params.at("name_branch") == true);
    CHECK(request.params.at("id").get<std::string>().size() == 21);
    desk.answer(Purpose::create, Error(ErrorCode::conflict, "no"));
    desk.press("c");
    CHECK(desk.core.state().form->fields[0].value == "Round q");
    desk.press("Enter");
    desk.answer(Purpose::create, Json{{"task", Json::object()}});
    desk.press("c");
    CHECK(desk.core.state().form->fields[0].value.empty());
}

TEST_CASE("The form takes files by their paths, and pictures from the clipboard") {
    Desk desk({running("aaaa0000")});
    desk.press("c");
    desk.type("Fix it");
    desk.press("Tab");
    desk.press("Tab");
    desk.type("a.png 'my file.png' my\\ other.png \"it's.png\"");
    desk.press("C-v");
    REQUIRE(desk.outside.size() == 1);
    CHECK(desk.outside.back().what == dashboard::Outside::What::take_picture);
    (void)desk.core.on_picture(std::string("first"), desk.now);
    desk.press("C-v");
    (void)desk.core.on_picture(std::string("second"), desk.now);
    CHECK(desk.core.state().form->fields[2].value.ends_with("\" clipboard.png clipboard-2.png"));
    desk.press("Enter");
    const auto request = desk.last(Purpose::create);
    CHECK_FALSE(request.params.contains("files"));  // they are sent before it
    REQUIRE(request.files.size() == 6);
    CHECK(request.files[0].path == "a.png");
    CHECK(request.files[1].path == "my file.png");
    CHECK(request.files[2].path == "my other.png");
    CHECK(request.files[3].path == "it's.png");
    CHECK(request.files[3].picture == nullptr);
    REQUIRE(request.files[4].picture);
    CHECK(*request.files[4].picture == "first");
    CHECK(request.files[5].path == "clipboard-2.png");
    CHECK(*request.files[5].picture == "second");

    // A file that cannot be sent: the form opens again there, with its pictures.
    desk.answer(Purpose::create, Error(ErrorCode::invalid_argument, "no a.png", {{"field", "files"}}));
    CHECK_THAT(desk.screen(), Tells("a.png"));
    desk.press("c");
    const auto& form = *desk.core.state().form;
    CHECK(form.fields[form.at].name == "files");
    for (int i = 0; i < 100; ++i) desk.press("Backspace");
    desk.type("clipboard-2.png");
    desk.press("Enter");
    REQUIRE(desk.last(Purpose::create).files.size() == 1);
    CHECK(*desk.last(Purpose::create).files[0].picture == "second");
}

TEST_CASE("A clipboard without a picture changes nothing in the form, and a picture that comes late is left out") {
    Desk desk({running("aaaa0000")});
    desk.press("c");
    desk.press("C-v");
    (void)desk.core.on_picture(Error(ErrorCode::unavailable, "install xclip"), desk.now);
    CHECK_THAT(desk.screen(), Holds("install xclip"));
    CHECK(desk.core.state().form->fields[2].value.empty());
    desk.press("Esc");
    (void)desk.core.on_picture(std::string("late"), desk.now);
    desk.press("c");
    CHECK(desk.core.state().form->fields[2].value.empty());
    desk.press("Enter");
    CHECK(desk.last(Purpose::create).files.empty());
}

TEST_CASE("A picture comes into the form for which it was taken, and goes with its name") {
    Desk desk({running("aaaa0000")});
    desk.press("c");
    desk.type("First");
    desk.press("C-v");
    desk.press("Enter");
    desk.press("c");
    (void)desk.core.on_picture(std::string("late"), desk.now);
    CHECK(desk.core.state().form->fields[2].value.empty());
    desk.type("Second");
    desk.press("C-v");
    desk.press("Esc");
    desk.press("c");  // the same form
    (void)desk.core.on_picture(std::string("first"), desk.now);
    REQUIRE(desk.core.state().form->pictures.size() == 1);
    for (int i = 0; i < 2; ++i) desk.press("Tab");
    desk.press("C-u");
    desk.press("C-v");
    (void)desk.core.on_picture(std::string("second"), desk.now);
    CHECK(desk.core.state().form->fields[2].value == "clipboard.png");
    REQUIRE(desk.core.state().form->pictures.size() == 1);
    CHECK(*desk.core.state().form->pictures.at("clipboard.png") == "second");
    desk.press("C-u");
    desk.press("Esc");
    CHECK(desk.core.state().kept_form->pictures.empty());
}

TEST_CASE("q asks once while the files of a new task are sent") {
    Desk desk({running("aaaa0000")});
    const auto quits = [&] {
        desk.press("q");
        return !desk.outside.empty() && desk.outside.back().what == dashboard::Outside::What::quit;
    };
    desk.press("c");
    desk.type("Fix it");
    for (int i = 0; i < 2; ++i) desk.press("Tab");
    desk.type("a.png");
    desk.press("Enter");
    CHECK_FALSE(quits());
    CHECK_THAT(desk.screen(), Holds("still being sent; q again quits"));
    CHECK(quits());
    desk.outside.clear();
    desk.press("j");
    CHECK_FALSE(quits());
    desk.answer(Purpose::create, Json{{"task", Json::object()}});
    desk.press("j");
    CHECK(quits());
}

TEST_CASE("While a task is being created, the form for the next one is empty") {
    Desk desk({running("aaaa0000")});
    desk.press("c");
    desk.type("First");
    desk.press("Enter");
    desk.press("c");
    CHECK(desk.core.state().form->fields[0].value.empty());
}

TEST_CASE("The form remembers the last choices of a project, and choices go round") {
    Desk desk({running("aaaa0000")});
    desk.core.set_last_choices({{"shop", {{"harness", "demo"}, {"permissions", "reduced"}}}});
    desk.press("c");
    CHECK(desk.core.state().form->fields[6].value == "demo");
    CHECK(desk.core.state().form->fields[11].value == "reduced");
    for (int i = 0; i < 11; ++i) desk.press("Tab");
    desk.press("Right");
    CHECK(desk.core.state().form->fields[11].value.empty());
    desk.press("Left");
    CHECK(desk.core.state().form->fields[11].value == "reduced");
    CHECK_THAT(desk.screen(), Holds("< reduced >"));
}

TEST_CASE("A task can wait for another one, or be a part of it") {
    auto other = running("bbbb0000");
    other.fields.project = "site";
    Desk desk({running("aaaa0000"), other, running("cccc0000")});
    desk.press("j");
    REQUIRE(desk.core.state().selected == "bbbb0000");
    desk.press("c");
    desk.type("Next");
    for (int i = 0; i < 2; ++i) desk.press("S-Tab");
    desk.press("Right");  // the selected one comes first
    CHECK_THAT(desk.screen(), Holds("< bbbb  Summary of bbbb0000 >"));
    desk.press("S-Tab");
    desk.press("Right");  // not of another project
    CHECK_THAT(desk.screen(), Holds("< aaaa  Summary of aaaa0000 >"));
    desk.press("Enter");
    const auto params = desk.last(Purpose::create).params;
    CHECK(params.at("blocked_by") == Json{"bbbb"});
    CHECK(params.at("parent") == "aaaa");
    desk.answer(Purpose::create, Json{{"task", Json::object()}});
    desk.press("c");
    desk.press("Enter");
    CHECK_FALSE(desk.last(Purpose::create).params.contains("blocked_by"));
    CHECK_FALSE(desk.last(Purpose::create).params.contains("parent"));
}

TEST_CASE("A task can be built on another one of its project") {
    auto other = running("bbbb0000");
    other.fields.project = "site";
    Desk desk({running("aaaa0000"), other});
    desk.press("c");
    desk.type("Next");
    for (int i = 0; i < 4; ++i) desk.press("S-Tab");
    desk.press("Right");
    CHECK_THAT(desk.screen(), Holds("built on") && Holds("< aaaa  Summary of aaaa0000 >"));
    desk.press("Enter");
    CHECK(desk.last(Purpose::create).params.at("on") == "aaaa");
}

TEST_CASE("If no agent program is installed, the form says what can be chosen, and opens there again") {
    Desk desk({running("aaaa0000")});
    desk.press("c");
    rpc::HarnessList::Reply harnesses;
    for (const char* name : {"claude", "demo"}) {
        auto& each = harnesses.harnesses.emplace_back();
        each.name = name;
        each.installed = each.name == "demo";
    }
    desk.answer(Purpose::harnesses, written(harnesses));
    CHECK_THAT(desk.screen(), Holds("takes demo"));
    desk.press("Enter");
    desk.answer(Purpose::create, Error(ErrorCode::not_found, "none is installed", {{"field", "harness"}}));
    desk.press("c");
    desk.press("Right");
    desk.press("Enter");
    CHECK(desk.last(Purpose::create).params.at("harness") == "demo");
}

TEST_CASE("Where no project can be, c says how to get one") {
    Desk desk;
    (void)desk.core.on_reply(dashboard::request_of(rpc::ProjectList{}, Purpose::projects),
                             dashboard::Answer(written(rpc::ProjectList::Reply{})), desk.now);
    desk.press("c");
    CHECK_FALSE(desk.core.state().form);
    REQUIRE(desk.core.state().message);
    CHECK_THAT(desk.core.state().message->text, Tells("orange project add"));
}

TEST_CASE("Trust in a repository is asked for, and without it the task is created all the same") {
    for (const bool yes : {true, false}) {
        Desk desk({running("aaaa0000")});
        desk.press("c");
        desk.type("x");
        desk.press("Enter");
        CHECK(desk.last(Purpose::create).params.at("ask_trust") == true);
        desk.answer(Purpose::create,
                    Error(ErrorCode::needs_force, "trust", {{"trust", "claude"}, {"repository", "/home/shop"}}));
        CHECK_THAT(desk.screen(), Holds("claude asks whether it may trust /home/shop"));
        desk.pass(milliseconds(1100));
        desk.press(yes ? "y" : "n");
        const auto request = desk.last(Purpose::create);
        CHECK(request.params.contains("trust") == yes);
        CHECK(request.params.value("ask_trust", false) == yes);
    }
}

namespace {

rpc::EdgeView step(const std::string& to, const std::string& means = {}, std::vector<std::string> by = {"human"}) {
    rpc::EdgeView edge;
    edge.to = to;
    edge.means = means;
    edge.by = std::move(by);
    edge.open = true;
    return edge;
}

/// A task with that edges, after t and the daemon's answer.
Desk after_t(std::vector<rpc::EdgeView> edges) {
    auto view = task_view("aaaa0000", "waits", Need::help, {"move"});
    Desk desk({view});
    desk.press("t");
    rpc::TaskWhy::Reply why;
    why.task = view;
    why.edges = std::move(edges);
    desk.answer(Purpose::moves, written(why));
    desk.pass(milliseconds(1100));
    return desk;
}

Desk in_new_repository(std::vector<rpc::ProjectView> projects, std::optional<std::string> cwd = "/home/new/src") {
    dashboard::State state;
    state.repository = "/home/new";
    state.cwd = std::move(cwd);
    Desk desk({}, 80, 24, state);
    rpc::ProjectList::Reply reply;
    reply.projects = std::move(projects);
    (void)desk.core.on_reply(dashboard::request_of(rpc::ProjectList{}, Purpose::projects),
                             dashboard::Answer(written(reply)), desk.now);
    desk.press("c");
    return desk;
}

}  // namespace

TEST_CASE("t takes the only step that is left to a human, after a question") {
    auto desk = after_t({step("fixed"), step("over", "cancelled"), step("next", "", {"worker"})});
    REQUIRE(desk.core.state().question);
    CHECK_THAT(desk.screen(), Holds("from waits to fixed?"));
    CHECK(desk.methods().empty());
    desk.press("y");
    CHECK(desk.methods() == std::vector<std::string>{"task.update"});
    const auto params = desk.last(Purpose::act).params;
    CHECK(params.at("status") == "fixed");
    CHECK(params.value("force", false) == false);
}

TEST_CASE("t lists the steps if there are several, and a digit asks for one of them") {
    auto forced = step("again");
    forced.needs_force = true;
    auto gated = step("checked");
    gated.open = false;
    gated.missing = "## Plan is missing";
    auto closed = step("never");
    closed.guard_holds = closed.open = false;
    const std::vector<rpc::EdgeView> edges = {gated, closed, forced};
    for (const char* key : {"3", "0", "y", "Esc", "q"}) {
        auto desk = after_t(edges);
        CHECK_THAT(desk.screen(), Holds("1  checked") && Holds("2  again") && !Holds("never"));
        desk.press(key);
        CHECK_FALSE(desk.core.state().question);
        CHECK(desk.methods().empty());
        CHECK(desk.outside.empty());
    }
    auto desk = after_t({step("here"), step("there")});
    desk.press("2");  // nothing more to know
    CHECK(desk.last(Purpose::act).params.at("status") == "there");
    desk = after_t(edges);
    desk.press("1");
    CHECK_THAT(desk.screen(), Holds("## Plan is missing"));
    desk.press("n");
    CHECK(desk.methods().empty());
    desk = after_t(edges);
    desk.press("2");
    CHECK(desk.methods().empty());
    desk.press("y");
    CHECK(desk.last(Purpose::act).params.at("status") == "again");
    CHECK(desk.last(Purpose::act).params.at("force") == true);
}

TEST_CASE("In a repository that is no project, c asks whether it becomes one, and the form goes on") {
    auto desk = in_new_repository({});
    REQUIRE(desk.core.state().question);
    CHECK_THAT(desk.screen(), Holds("/home/new") && Holds("Create a task"));
    desk.pass(milliseconds(1100));
    desk.press("y");
    CHECK(desk.last(Purpose::add_project).params.at("path") == "/home/new");
    rpc::ProjectReply reply;
    reply.project.name = "new";
    reply.project.path = "/home/new";
    reply.project.default_branch = "trunk";
    desk.answer(Purpose::add_project, written(reply));
    CHECK(desk.core.state().shown_project == "new");
    desk.type("Do it");
    desk.press("Enter");
    CHECK(desk.last(Purpose::create).params.at("project") == "new");
    CHECK(desk.last(Purpose::create).params.at("summary") == "Do it");
}

TEST_CASE("Without a project the form asks again, and a refusal of the daemon is shown") {
    auto desk = in_new_repository({});
    desk.pass(milliseconds(1100));
    desk.press("n");
    CHECK_FALSE(desk.has_sent(Purpose::add_project));
    desk.type("Do it");
    desk.press("Enter");
    CHECK(desk.methods().empty());
    REQUIRE(desk.core.state().question);
    desk.press("y");
    desk.answer(Purpose::add_project, Error(ErrorCode::not_found, "it has no branch"));
    CHECK_THAT(desk.screen(), Holds("it has no branch"));
    CHECK(desk.core.state().form->fields[0].value == "Do it");
}

TEST_CASE("c asks nothing where the repository is known, another project was chosen, or it was asked before") {
    rpc::ProjectView known, other;
    known.name = "known";
    known.path = "/home/new";
    other.name = "other";
    other.path = "/home/other";
    CHECK_FALSE(in_new_repository({known}, "/home/linked").core.state().question);
    CHECK_FALSE(in_new_repository({known}).core.state().question);
    CHECK_FALSE(in_new_repository({other}, std::nullopt).core.state().question);  // --everywhere
    auto desk = in_new_repository({other});
    REQUIRE(desk.core.state().question);
    desk.pass(milliseconds(1100));
    desk.press("n");
    desk.press("Esc");
    desk.press("c");
    CHECK_FALSE(desk.core.state().question);
    CHECK(desk.core.state().form->fields[3].value == "other");
}

TEST_CASE("The key for yes is shown when it counts") {
    Desk desk({in_review("aaaa0000")});
    desk.press("x");
    CHECK_THAT(desk.footer(), !Holds("y yes"));
    REQUIRE(desk.core.next_time());
    desk.pass(std::chrono::duration_cast<milliseconds>(*desk.core.next_time() - desk.now.steady));
    CHECK_THAT(desk.footer(), Holds("y yes"));
    desk.press_at_once("y");
    CHECK(desk.methods() == std::vector<std::string>{"task.cancel"});
}

TEST_CASE("A command in a message has its key beside it, if the key does it for the selected task") {
    const auto shown = [](const std::string& command, rpc::TaskView view) {
        view.short_id = "aaaa";
        Desk desk({view});
        desk.press("y");
        desk.core.say("No:\n  " + command, true, desk.now);
        return desk.screen();
    };
    CHECK_THAT(shown("orange task stop aaaa", running("aaaa0000")), Holds("orange task stop aaaa   (here: S)"));
    CHECK_THAT(shown("orange task stop aaaa0000", running("aaaa0000")), Holds("(here: S)"));
    CHECK_THAT(shown("orange task stop bbbb", running("aaaa0000")), !Holds("(here:"));
    CHECK_THAT(shown("orange task stop aaaa", in_review("aaaa0000")), !Holds("(here:"));
    CHECK_THAT(shown("orange task merge aaaa --force", running("aaaa0000")), Holds("(here: m)"));
    CHECK_THAT(shown("orange task update aaaa --status x", running("aaaa0000")), !Holds("(here:"));
    CHECK_THAT(shown("orange harness list", running("aaaa0000")), !Holds("(here:"));
}
