// The cursor of the diff and of TASK.md, and comments on its lines.
#include "tests/unit/dashboard/desk.hpp"

using namespace orange;
using namespace orange::tests;
using dashboard::Pane;
using dashboard::Purpose;

namespace {

const std::string k_patch =
    "diff --git a/src/cart.py b/src/cart.py\n"
    "--- a/src/cart.py\n"
    "+++ b/src/cart.py\n"
    "@@ -10,4 +10,5 @@ def total\n"
    " def total(items):\n"
    "-    return sum(items)\n"
    "+    whole = sum(items)\n"
    "+    return round(whole)\n"
    " \n"
    " # end\n"
    "diff --git a/old.txt b/new.txt\n"
    "rename from old.txt\n"
    "rename to new.txt\n"
    "--- a/old.txt\n"
    "+++ b/new.txt\n"
    "@@ -1 +1 @@\n"
    "-one\n"
    "+two\n"
    "diff --git a/logo.png b/logo.png\n"
    "Binary files a/logo.png and b/logo.png differ\n";

rpc::TaskDiff::Reply diff_of(const std::string& text) {
    rpc::TaskDiff::Reply diff;
    diff.base = "the base";
    diff.tip = "the tip";
    diff.changes = {1, 2, 3, 2, false};
    diff.text = text;
    return diff;
}

rpc::CommentView comment_view(std::int64_t number, const std::string& state, const std::string& path, std::int64_t line,
                              const std::string& text) {
    rpc::CommentView view;
    view.number = number;
    view.state = state;
    view.place = "here";
    view.path = path;
    view.line = view.end = line;
    view.quoted = "the line";
    view.turns.push_back({text, k_desk_time, {}, {}});
    return view;
}

/// A desk whose diff has the keys.
Desk reviewing(const rpc::TaskDiff::Reply& diff, int width = 80, int height = 40, Desk::State initial = {}) {
    Desk desk({in_review("aaaa0000"), running("bbbb0000")}, width, height, std::move(initial));
    desk.press("2");
    desk.answer(Purpose::diff, written(diff));
    if (desk.core.state().panes.at(Pane::diff).lines.empty()) (void)desk.frame();
    desk.press("2");
    (void)desk.frame();
    desk.sent.clear();
    return desk;
}

const dashboard::PaneText& text_of(const Desk& desk) {
    return desk.core.state().panes.at(desk.core.state().pane);
}

/// The rows of the line at which the cursor stands, together.
std::string line_at(const Desk& desk) {
    const auto& text = text_of(desk);
    const auto [first, end] = dashboard::rows_of(text, text.cursor);
    std::string all;
    for (auto row = first; row < end; ++row) all += text.lines.at(row).text();
    return all;
}

/// Moves the cursor down to the first line that holds the text.
void go_to(Desk& desk, const std::string& text) {
    desk.press("g");
    for (int i = 0; i < 300 && line_at(desk).find(text) == std::string::npos; ++i) desk.press("j");
    REQUIRE_THAT(line_at(desk), Holds(text));
}

void write_comment(Desk& desk, const std::string& text) {
    desk.press("c");
    REQUIRE(desk.core.state().prompt);
    desk.type(text);
    desk.press("Enter");
}

rpc::NewComment sent_comment(const Desk& desk) {
    const auto request = desk.last(Purpose::act);
    CHECK(request.method == "task.comment");
    const auto params = dashboard::typed<rpc::TaskComment>(request.params);
    REQUIRE(params);
    REQUIRE(params->comments.size() == 1);
    return params->comments.front();
}

rpc::TaskCommentChange sent_change(const Desk& desk) {
    const auto request = desk.last(Purpose::act);
    CHECK(request.method == "task.comment_change");
    return *dashboard::typed<rpc::TaskCommentChange>(request.params);
}

const Error k_too_old(ErrorCode::invalid_argument,
                      "task.diff: unknown parameter \"comments\"; known: id, merge, patch, since_review");

/// As the daemon answers: the task has that many drafts now.
Json taken(std::int64_t drafts) {
    auto task = in_review("aaaa0000");
    task.comments.emplace().drafts = drafts;
    return {{"task", written(task)}, {"comments", Json::array()}};
}

}  // namespace

TEST_CASE("The diff and TASK.md are asked for with their comments") {
    Desk desk({in_review("aaaa0000")});
    desk.press("2");
    CHECK(desk.last(Purpose::diff).params.at("comments") == true);
    desk.press("3");
    CHECK(desk.last(Purpose::task).params.at("comments") == true);
}

TEST_CASE("A comment is on the line of the branch at the cursor, and on that of the base for a removed one") {
    struct Case {
        std::string at, path;
        DiffSide side;
        std::int64_t line;
    };
    for (const auto& each :
         {Case{"def total(items)", "src/cart.py", DiffSide::now, 10},
          Case{"-    return sum", "src/cart.py", DiffSide::before, 11},
          Case{"return round", "src/cart.py", DiffSide::now, 12}, Case{"# end", "src/cart.py", DiffSide::now, 14},
          Case{"-one", "old.txt", DiffSide::before, 1}, Case{"+two", "new.txt", DiffSide::now, 1}}) {
        INFO(each.at);
        auto desk = reviewing(diff_of(k_patch));
        go_to(desk, each.at);
        write_comment(desk, "Why?");
        const auto comment = sent_comment(desk);
        CHECK(comment.path == each.path);
        CHECK(comment.side == each.side);
        CHECK(comment.line == each.line);
        CHECK_FALSE(comment.end);
        CHECK(comment.commit == (each.side == DiffSide::now ? "the tip" : "the base"));
        CHECK_FALSE(comment.quoted);
        CHECK(comment.text == "Why?");
        CHECK(desk.last(Purpose::act).params.at("id") == "aaaa0000");
    }
}

TEST_CASE("Ends of lines and blanks of a section are quoted as they are in the file") {
    Desk task({in_review("aaaa0000")}, 80, 40);
    rpc::TaskShow::Reply shown;
    shown.task = in_review("aaaa0000");
    shown.body = "\r\n## Plan\r\nAPPROACH\r\nlast  \r\n\r\n";
    task.press("3");
    task.answer(Purpose::task, written(shown));
    task.press("3");
    go_to(task, "APPROACH");
    task.press("v");
    task.press("j");
    write_comment(task, "x");
    CHECK(sent_comment(task).section == "Plan");
    CHECK(sent_comment(task).quoted == "APPROACH\r\nlast  \r");
    CHECK_FALSE(sent_comment(task).commit);
}

TEST_CASE("Where no line of the work is, no comment can be written, and what is typed for it is no command") {
    auto desk = reviewing(diff_of(k_patch));
    for (const std::string at : {"diff --git a/src", "@@ -10,4", "Binary files"}) {
        go_to(desk, at);
        desk.press("c");
        CHECK_FALSE(desk.core.state().prompt);
        CHECK_THAT(desk.screen(), Holds("No line of the work is here"));
        desk.type("mxy");
        desk.press("Enter");
        CHECK(desk.methods().empty());
        CHECK_FALSE(desk.core.state().question);
    }
    auto empty = reviewing(rpc::TaskDiff::Reply());
    empty.press("c");
    CHECK_FALSE(empty.core.state().prompt);
    CHECK_THAT(empty.screen(), Holds("no changes yet"));
}

TEST_CASE("A range has the lines between its ends, of the side that both have, and none of another file") {
    auto desk = reviewing(diff_of(k_patch));
    go_to(desk, "def total(items)");
    desk.press("v");
    for (int i = 0; i < 3; ++i) desk.press("j");
    CHECK_THAT(desk.footer(), Holds("range of 4"));
    write_comment(desk, "All of it");
    auto comment = sent_comment(desk);
    CHECK(comment.line == 10);
    CHECK(comment.end == 12);
    CHECK(comment.commit == "the tip");
    CHECK_FALSE(text_of(desk).range);
    desk.answer(Purpose::act, taken(1));
    desk.sent.clear();
    go_to(desk, "# end");  // upwards
    desk.press("v");
    desk.press("k");
    write_comment(desk, "Both");
    comment = sent_comment(desk);
    CHECK(comment.line == 13);
    CHECK(comment.end == 14);
    desk.answer(Purpose::act, taken(2));
    desk.sent.clear();
    go_to(desk, "# end");
    desk.press("v");
    for (int i = 0; i < 8; ++i) desk.press("j");
    desk.press("c");
    CHECK_FALSE(desk.core.state().prompt);
    CHECK_THAT(desk.screen(), Holds("lines that follow each other"));
    desk.press("Esc");  // the error
    CHECK(text_of(desk).range);
    desk.press("Esc");
    CHECK_FALSE(text_of(desk).range);
    CHECK(desk.core.state().pane_focused);
}

TEST_CASE("The cursor goes by lines and not by rows, is seen without colours, and the pane follows it") {
    std::string text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,60 @@\n";
    for (int i = 1; i <= 60; ++i) text += "+" + std::string(i == 2 ? 200 : 10, 'w') + std::to_string(i) + "\n";
    auto desk = reviewing(diff_of(text), 80, 24);
    go_to(desk, "wwwwwwwwww1");
    desk.press("j");
    CHECK(line_at(desk).size() > 200);
    const auto [first, end] = dashboard::rows_of(text_of(desk), text_of(desk).cursor);
    CHECK(end - first == 3);
    int reversed = 0;
    for (const auto& row : desk.frame().rows)
        reversed += row.spans.front().look.reverse && row.text().find("www") != std::string::npos;
    CHECK(reversed == 3);
    desk.press("j");
    CHECK_THAT(line_at(desk), Holds("w3"));
    write_comment(desk, "Here");
    CHECK(sent_comment(desk).line == 3);
    desk.answer(Purpose::act, taken(1));
    const auto seen = [&] {
        const auto view = dashboard::view_of(desk.core.state());
        const auto rows = dashboard::rows_of(text_of(desk), text_of(desk).cursor);
        return rows.first >= view.top && rows.second <= view.top + view.rows;
    };
    for (const char* key : {"G", "g", "C-d", "C-d", "C-d", "K", "J", "k", "PageDown", " ", "C-u"}) {
        desk.press(key);
        (void)desk.frame();
        INFO(key);
        CHECK(seen());
    }
    desk.press("G");
    CHECK_THAT(line_at(desk), Holds("w60"));
    for (int i = 0; i < 40; ++i) desk.press("k");
    CHECK_THAT(line_at(desk), Holds("w20"));
    CHECK_THAT(desk.screen(), Holds("w20"));
    desk.press("/");
    desk.type("w44");
    desk.press("Enter");
    write_comment(desk, "There");
    CHECK(sent_comment(desk).line == 44);
}

TEST_CASE("A line with more rows than the pane can be read, and left") {
    auto desk = reviewing(
        diff_of("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+" + std::string(4000, 'w') + "END\n+last\n"),
        80, 24);
    go_to(desk, "END");
    for (int i = 0; i < 4; ++i) desk.press("C-d");
    (void)desk.frame();
    CHECK(dashboard::view_of(desk.core.state()).top > 30);
    for (int i = 0; i < 10; ++i) desk.press("C-d");
    CHECK_THAT(line_at(desk), Holds("+last"));
    CHECK_THAT(desk.screen(), Holds("+last"));
}

TEST_CASE("The cursor and the range stay at their lines when the pane is read again") {
    auto desk = reviewing(diff_of(k_patch));
    go_to(desk, "whole = sum");
    desk.press("v");
    desk.press("j");
    auto diff = diff_of(k_patch);
    diff.stat = " src/cart.py | 3 ++-\n new.txt | 2 +-\n";
    diff.comments = {comment_view(1, "draft", "src/cart.py", 10, "first\nsecond\nthird")};
    const auto again = [&](const Json& reply) {
        desk.event("aaaa0000");
        desk.pass(std::chrono::milliseconds(300));
        desk.answer(Purpose::diff, reply);
        (void)desk.frame();
    };
    const auto row_on_screen = [&] {
        return dashboard::rows_of(text_of(desk), text_of(desk).cursor).first -
               dashboard::view_of(desk.core.state()).top;
    };
    again(written(diff));
    CHECK_THAT(line_at(desk), Holds("return round"));
    REQUIRE(text_of(desk).range);
    CHECK(text_of(desk).places.all.at(*text_of(desk).range).now == 11);
    const auto before = row_on_screen();
    desk.press("Esc");
    diff.text.replace(diff.text.find("+    return round(whole)\n"), 25, "");  // its line is gone
    diff.text.replace(diff.text.find("+10,5"), 5, "+10,4");
    again(written(diff));
    CHECK_THAT(line_at(desk), Holds(" "));
    CHECK(text_of(desk).places.all.at(text_of(desk).cursor).now == 12);
    CHECK(row_on_screen() <= before);
    go_to(desk, "second");
    diff.comments.front().turns.front().text = "second is gone";
    again(written(diff));
    CHECK_THAT(line_at(desk), Holds("│"));  // another row of the same comment
    diff.comments.clear();
    again(written(diff));
    CHECK_THAT(line_at(desk), Holds("def total(items)"));  // the line that it was on
    go_to(desk, "# end");
    desk.event("aaaa0000");
    desk.pass(std::chrono::milliseconds(300));
    desk.answer(Purpose::diff, Error(ErrorCode::io, "not now"));
    (void)desk.frame();
    again(written(diff));
    CHECK_THAT(line_at(desk), Holds("# end"));
}

TEST_CASE("A comment that is refused is offered again with the reason, and not lost by Esc") {
    auto desk = reviewing(diff_of(k_patch));
    go_to(desk, "return round");
    write_comment(desk, "Why round");
    CHECK_FALSE(desk.core.state().prompt);
    desk.answer(Purpose::act, Error(ErrorCode::conflict, "other lines stand there now"));
    REQUIRE(desk.core.state().prompt);
    CHECK(desk.core.state().prompt->text == "Why round");
    CHECK_THAT(desk.screen(),
               Holds("other lines stand there now") && Holds("> Why round") && Holds("Comment on src/cart.py:12"));
    desk.press("Esc");
    CHECK_FALSE(desk.core.state().prompt);
    go_to(desk, "whole = sum");
    desk.press("c");
    CHECK(desk.core.state().prompt->text == "Why round");
    desk.press("Enter");
    CHECK(sent_comment(desk).line == 11);
    desk.answer(Purpose::act, taken(1));
    CHECK_THAT(desk.screen(), Holds("saved as a draft; r sends it"));
    desk.press("c");
    CHECK(desk.core.state().prompt->text.empty());
}

TEST_CASE("What was typed for a rejection stays while comments are written") {
    auto desk = reviewing(diff_of(k_patch));
    desk.press("r");
    desk.type("half");
    desk.press("Esc");
    go_to(desk, "return round");
    write_comment(desk, "Why");
    desk.answer(Purpose::act, taken(1));
    desk.press("r");
    CHECK(desk.core.state().prompt->text == "half");
}

TEST_CASE("Comments stand below their last line, with what was asked and answered") {
    auto diff = diff_of(k_patch);
    auto range = comment_view(1, "answered", "src/cart.py", 11, "Why not half up?");
    range.end = 12;
    range.author = "bea";
    range.was = "src/cart.py:9";
    range.turns.front().answer = "Because of the tax.";
    range.turns.push_back({"Which tax?", k_desk_time, "All of them.", k_desk_time});
    auto removed = comment_view(2, "draft", "src/cart.py", 11, "Keep this");
    removed.side = DiffSide::before;
    auto context = comment_view(4, "sent", "src/cart.py", 13, "Of the base");
    context.side = DiffSide::before;
    diff.comments = {range, removed, context};
    diff.remarks = {{"here", "src/cart.py", 14, 14, "A remark", "review 1"}};
    auto desk = reviewing(diff);
    const auto screen = desk.screen();
    CHECK_THAT(screen, Holds("+    return round(whole)\n"
                             "  │ #1 answered, by bea, lines 11-12, was at src/cart.py:9\n"
                             "  │ Why not half up?\n"
                             "  │ → Because of the tax.\n"
                             "  │ again: Which tax?\n"
                             "  │ → All of them.\n"));
    CHECK_THAT(screen, Holds("-    return sum(items)\n  │ #2 draft\n  │ Keep this\n+    whole"));
    CHECK_THAT(screen, Holds(" # end\n  │ #4 sent\n  │ Of the base\n  │ The reviewer\n  │ A remark\n"));
    CHECK_THAT(screen, !Holds("not shown here"));
}

TEST_CASE("Comments whose lines are gone or not shown stand at the end, and can be changed there") {
    auto diff = diff_of(k_patch);
    auto outdated = comment_view(3, "answered", "src/cart.py", 12, "Where is it?");
    outdated.place = "outdated";
    outdated.quoted = "    return 1\n    return 2";
    outdated.end = 13;
    auto elsewhere = comment_view(4, "draft", "other.py", 90, "Not in the diff");
    diff.comments = {outdated, elsewhere};
    auto desk = reviewing(diff);
    CHECK_THAT(desk.screen(), Holds("Comments on lines that are not shown here\n"
                                    "  │ #3 answered, src/cart.py:12-13, outdated\n"
                                    "  │ >     return 1\n"
                                    "  │ >     return 2\n"
                                    "  │ Where is it?\n"
                                    "  │ #4 draft, other.py:90\n"
                                    "  │ > the line\n"
                                    "  │ Not in the diff\n"));
    go_to(desk, "Where is it?");
    desk.press("y");
    CHECK(sent_change(desk).numbers == std::vector<std::int64_t>{3});
    desk.answer(Purpose::act, taken(1));
    desk.sent.clear();
    go_to(desk, "Not in the diff");
    desk.press("X");
    desk.press("y");
    CHECK(sent_change(desk).numbers == std::vector<std::int64_t>{4});
    desk.answer(Purpose::act, taken(0));
    go_to(desk, "#3 answered");
    desk.press("c");
    CHECK_FALSE(desk.core.state().prompt);
    auto none = reviewing([&] {
        rpc::TaskDiff::Reply reply;
        reply.comments = {outdated};
        return reply;
    }());
    CHECK_THAT(none.screen(), Holds("no changes yet") && Holds("#3 answered"));
}

TEST_CASE("A comment is edited, removed, resolved, asked again and taken over where the cursor stands") {
    auto diff = diff_of(k_patch);
    const auto at = [&](std::int64_t number, const char* state) {
        return comment_view(number, state, "src/cart.py", 12, "text of " + std::to_string(number));
    };
    diff.comments = {at(1, "draft"), at(2, "answered"), at(3, "draft"), at(5, "outside"), at(6, "resolved")};
    diff.remarks = {{"here", "src/cart.py", 11, 12, "Round half up", "review 1"}};
    auto desk = reviewing(diff);
    const auto done = [&] {
        desk.answer(Purpose::act, taken(1));
        desk.sent.clear();
    };
    const auto change = [&] {
        const auto sent = sent_change(desk);
        done();
        return std::to_string(sent.numbers.front()) + " " + sent.change + " " + sent.text;
    };
    go_to(desk, "return round");
    desk.press("e");  // the last draft of the line
    CHECK(desk.core.state().prompt->text == "text of 3");
    desk.type("!");
    desk.press("Enter");
    CHECK(change() == "3 edit text of 3!");
    go_to(desk, "text of 1");
    CHECK_THAT(desk.footer(), Holds("e edit") && Holds("X remove") && !Holds("A ask"));
    desk.press("e");
    CHECK(desk.core.state().prompt->label == "Comment #1");
    desk.press("Enter");
    CHECK(change() == "1 edit text of 1");
    desk.press("X");
    CHECK_THAT(desk.screen(), Holds("Remove comment #1? (y/N)"));
    desk.press("n");
    CHECK(desk.methods().empty());
    desk.press("X");
    desk.press("y");
    CHECK(change() == "1 remove ");
    go_to(desk, "#2 answered");
    CHECK_THAT(desk.footer(), Holds("y resolve") && Holds("A ask again") && !Holds("e edit"));
    desk.press("e");
    CHECK_THAT(desk.screen(), Holds("not sent"));
    desk.press("Esc");
    desk.press("y");
    CHECK(change() == "2 resolve ");
    desk.press("A");
    CHECK(desk.core.state().prompt->label == "Ask #2 again");
    desk.type("Which?");
    desk.press("Enter");
    CHECK(change() == "2 ask Which?");
    go_to(desk, "#6 resolved");
    desk.press("y");
    CHECK(change() == "6 reopen ");
    go_to(desk, "#5 outside");
    desk.press("X");
    desk.press("y");
    CHECK(change() == "5 remove ");
    desk.press("t");
    CHECK(change() == "5 take ");
    go_to(desk, "Round half up");
    desk.press("t");
    const auto comment = sent_comment(desk);
    CHECK(comment.origin == "review 1");
    CHECK(comment.path == "src/cart.py");
    CHECK(comment.line == 11);
    CHECK(comment.end == 12);
    CHECK(comment.text == "Round half up");
    CHECK(comment.commit == "the tip");
    CHECK_FALSE(comment.quoted);
    done();
    go_to(desk, "def total(items)");
    for (const char* key : {"e", "X", "y", "A", "t"}) {
        desk.press(key);
        CHECK(desk.methods().empty());
        CHECK_FALSE(desk.core.state().prompt);
        CHECK_FALSE(desk.core.state().question);
        desk.pass(std::chrono::milliseconds(1100));
    }
}

TEST_CASE("An edit that is refused keeps its own text") {
    auto diff = diff_of(k_patch);
    diff.comments = {comment_view(1, "draft", "src/cart.py", 12, "one")};
    auto desk = reviewing(diff);
    go_to(desk, "return round");
    desk.press("e");
    desk.type(" more");
    desk.press("Enter");
    desk.answer(Purpose::act, Error(ErrorCode::conflict, "it was sent"));
    REQUIRE(desk.core.state().prompt);
    CHECK(desk.core.state().prompt->label == "Comment #1");
    CHECK(desk.core.state().prompt->text == "one more");
    desk.press("Esc");
    desk.press("c");
    CHECK(desk.core.state().prompt->text.empty());
    desk.press("Esc");
    desk.press("e");
    CHECK(desk.core.state().prompt->text == "one more");
}

TEST_CASE("Hostile texts of comments, lines and paths are shown, and do nothing to the screen") {
    const std::string hostile = "\x1b[2J\x1b]0;title\x07\xe2\x80\xae" + std::string(300, 'A') +
                                "\nX\tY\r\n\x9b"
                                "31m";
    auto diff = diff_of("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+" + std::string("\x1b[2J") + "line\n");
    auto comment = comment_view(1, "answered", "x", 1, hostile);
    comment.author = comment.was = hostile;
    comment.turns.front().answer = hostile;
    auto gone = comment_view(2, "draft", hostile, 1, hostile);
    gone.place = "outdated";
    gone.quoted = hostile;
    diff.comments = {comment, gone};
    diff.remarks = {{"here", hostile, 1, 1, hostile, "review 1"}};
    auto desk = reviewing(diff, 80, 60);
    (void)desk.frame();
    for (const auto& line : text_of(desk).lines) {
        CHECK(line.width() <= 80);
        for (const unsigned char c : line.text()) CHECK(c >= 0x20);
        CHECK_THAT(line.text(), !Holds("\xe2\x80\xae"));
    }
    CHECK_THAT(desk.screen(), Holds("\\x1b[2J"));
    go_to(desk, "line");
    write_comment(desk, "x");
    CHECK(sent_comment(desk).line == 1);
}

TEST_CASE("C gives the diff the whole screen, and Esc gives all back as it was") {
    for (const int width : {80, 140}) {
        Desk desk({in_review("aaaa0000"), running("bbbb0000")}, width, 24);
        desk.press("C");
        REQUIRE(desk.has_sent(Purpose::diff));
        desk.answer(Purpose::diff, written(diff_of(k_patch)));
        const auto layout = dashboard::layout_of(desk.core.state());
        CHECK(layout.pane.row == 0);
        CHECK(layout.pane.width == width);
        CHECK(layout.pane.height == 21);  // all but two rows of keys and one for messages
        CHECK_THAT(desk.screen(), Holds("[2 diff]") && Holds("Summary of aaaa0000") && !Holds("NEEDS YOU"));
        desk.press("?");
        CHECK_THAT(desk.screen(), Holds("Orange") && Holds("Keys"));
        desk.press("Esc");
        go_to(desk, "return round");
        write_comment(desk, "Why");
        CHECK(sent_comment(desk).line == 12);
        desk.press("Esc");
        CHECK_THAT(desk.screen(), Holds("NEEDS YOU") && !Holds("has the keys"));
        CHECK(desk.core.state().pane == Pane::screen);
        desk.press("2");
        desk.press("2");
        desk.press("C");
        CHECK(dashboard::layout_of(desk.core.state()).whole);
        desk.press("C");
        CHECK_FALSE(dashboard::layout_of(desk.core.state()).whole);
        CHECK_THAT(desk.screen(), Holds("diff has the keys"));
        desk.press("C");
        desk.press("C-c");
        CHECK_FALSE(dashboard::layout_of(desk.core.state()).whole);
        CHECK(desk.outside.empty());
    }
}

TEST_CASE("Lines of a section of TASK.md are commented on, counted below its heading") {
    Desk desk({in_review("aaaa0000")}, 80, 40);
    rpc::TaskShow::Reply shown;
    shown.task = in_review("aaaa0000");
    shown.body =
        "\n# Title\n\nIntro\n\n## Plan\n\nAPPROACH: short\n```\n## Not a heading\n```\n### Part\nlast\n\n## "
        "Handoff\nDONE\n";
    auto comment = comment_view(1, "answered", "", 2, "How short?");
    comment.section = "Plan";
    comment.turns.front().answer = "Very";
    auto outdated = comment_view(2, "draft", "", 9, "Gone");
    outdated.section = "Plan";
    outdated.place = "outdated";
    shown.comments = {comment, outdated};
    desk.press("3");
    desk.answer(Purpose::task, written(shown));
    desk.press("3");
    CHECK_THAT(desk.screen(), Holds("APPROACH: short\n  │ #1 answered\n  │ How short?\n  │ → Very\n"));
    CHECK_THAT(desk.screen(), Holds("  │ #2 draft, Plan:9, outdated\n"));
    struct Case {
        const char* at;
        const char* section;
        std::int64_t line;
    };
    for (const auto& each : {Case{"APPROACH", "Plan", 2}, Case{"## Not a heading", "Plan", 4}, Case{"last", "Plan", 7},
                             Case{"DONE", "Handoff", 1}}) {
        go_to(desk, each.at);
        write_comment(desk, "x");
        const auto sent = sent_comment(desk);
        CHECK(sent.section == each.section);
        CHECK_FALSE(sent.path);
        CHECK(sent.line == each.line);
        desk.answer(Purpose::act, taken(1));
        desk.sent.clear();
    }
    go_to(desk, "Intro");
    desk.press("c");
    CHECK_FALSE(desk.core.state().prompt);
}

TEST_CASE("A rejection says how many comments it sends, and needs no text then") {
    auto task = in_review("aaaa0000");
    task.comments.emplace().drafts = 2;
    task.comments->answered = 3;
    Desk desk({task});
    CHECK_THAT(desk.screen(), Holds("look at it; 2 comments not sent, 3 answered"));
    desk.press("r");
    CHECK_THAT(desk.screen(), Holds("Reject \"Summary of aaaa0000\", with 2 comments"));
    desk.press("Enter");
    CHECK(desk.last(Purpose::act).method == "task.reject");
    CHECK(desk.last(Purpose::act).params.value("feedback", std::string("absent")).empty());
    Desk without({in_review("aaaa0000")});
    without.press("r");
    without.press("Enter");
    CHECK(without.methods().empty());
    auto fresh = reviewing(diff_of(k_patch));  // a rejection right after the comment, before the next list
    go_to(fresh, "return round");
    write_comment(fresh, "Why");
    fresh.answer(Purpose::act, taken(1));
    fresh.press("r");
    CHECK_THAT(fresh.core.state().prompt->label, Holds("with 1 comment"));
    fresh.press("Enter");
    CHECK(fresh.last(Purpose::act).method == "task.reject");
}

TEST_CASE("After a comment the pane is read again, and a dashboard that only reads refuses it") {
    auto desk = reviewing(diff_of(k_patch));
    go_to(desk, "return round");
    write_comment(desk, "Why");
    CHECK_FALSE(desk.has_sent(Purpose::diff));
    desk.answer(Purpose::act, taken(1));
    CHECK(desk.has_sent(Purpose::diff));
    Desk::State state;
    state.read_only = true;
    auto reader = reviewing(diff_of(k_patch), 80, 40, std::move(state));
    go_to(reader, "return round");
    CHECK_THAT(reader.footer(), !Holds("c comment"));
    reader.press("c");
    CHECK_FALSE(reader.core.state().prompt);
    CHECK_THAT(reader.screen(), Holds("read-only"));
}

TEST_CASE("A comment on another host's task goes to that host") {
    Desk::State state;
    state.hosts.resize(1);
    state.hosts.front().name = "box";
    Desk desk({}, 80, 40, std::move(state));
    desk.link(dashboard::Link::State::up, 1);
    desk.list({in_review("cccc0000")}, 0, 1);
    desk.press("C");
    desk.answer(Purpose::diff, written(diff_of(k_patch)), 1);
    go_to(desk, "return round");
    write_comment(desk, "Why");
    CHECK(desk.last(Purpose::act).host == 1);
    CHECK(sent_comment(desk).line == 12);
}

TEST_CASE("A long diff with many comments is laid out once for each reply, and not for each key") {
    std::string text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,5000 @@\n";
    for (int i = 1; i <= 5000; ++i) text += "+line " + std::to_string(i) + "\n";
    auto diff = diff_of(text);
    for (int i = 1; i <= 200; ++i) diff.comments.push_back(comment_view(i, "draft", "x", i * 25, "text\nof two"));
    auto desk = reviewing(diff, 140, 40);
    const auto before = text_of(desk).layouts;
    CHECK(before <= 2);
    for (const char* key : {"j", "k", "C-d", "J", "G", "g", "}", "j", "v", "j", "Esc", "/"}) {
        desk.press(key);
        (void)desk.frame();
    }
    desk.type("line 4999");
    desk.press("Enter");
    (void)desk.frame();
    CHECK_THAT(line_at(desk), Holds("line 4999"));
    go_to(desk, "#1 draft");
    CHECK(text_of(desk).layouts == before);
    CHECK(text_of(desk).places.of_row.size() == text_of(desk).lines.size());
    desk.press("z");
    (void)desk.frame();
    CHECK(text_of(desk).layouts == before + 1);
    CHECK_THAT(line_at(desk), Holds("#1 draft"));
}

TEST_CASE("A daemon that knows no comments is asked without them") {
    Desk desk({in_review("aaaa0000")});
    desk.press("2");
    REQUIRE(desk.last(Purpose::diff).params.contains("comments"));
    desk.answer(Purpose::diff, Error(ErrorCode::invalid_argument, "no such task"));
    CHECK_FALSE(desk.has_sent(Purpose::diff));
    desk.event("aaaa0000");
    desk.pass(std::chrono::milliseconds(300));
    REQUIRE(desk.last(Purpose::diff).params.contains("comments"));
    desk.answer(Purpose::diff, k_too_old);
    CHECK_FALSE(desk.last(Purpose::diff).params.contains("comments"));
    desk.press("3");
    CHECK_FALSE(desk.last(Purpose::task).params.contains("comments"));
}

TEST_CASE("The keys for comments are refused if the host's daemon knows no comments") {
    Desk::State state;
    state.hosts.resize(1);
    state.hosts.front().name = "box";
    Desk desk({}, 80, 40, std::move(state));
    desk.link(dashboard::Link::State::up, 1);
    desk.list({in_review("cccc0000")}, 0, 1);
    desk.press("C");
    desk.answer(Purpose::diff, k_too_old, 1);
    desk.answer(Purpose::diff, written(diff_of(k_patch)), 1);
    go_to(desk, "return round");
    CHECK_THAT(desk.footer(), !Holds("c comment"));
    desk.press("c");
    CHECK_FALSE(desk.core.state().prompt);
    CHECK_THAT(desk.screen(), Holds("orange on box is too old for comments"));
}

TEST_CASE("In a pane that is not read yet, the keys for comments are not those of the list") {
    for (const char* pane : {"2", "3"}) {
        Desk desk({in_review("aaaa0000")}, 80, 40);
        desk.press(pane);
        desk.press(pane);
        for (const char* key : {"c", "v", "e", "X", "y", "A", "t"}) {
            INFO(key);
            desk.press(key);
            CHECK_THAT(desk.screen(), Holds("It is not read yet"));
            CHECK_FALSE(desk.core.state().form);
            CHECK_FALSE(desk.core.state().question);
            CHECK(desk.outside.empty());
            CHECK(desk.methods().empty());
            desk.pass(std::chrono::milliseconds(1100));
        }
        desk.answer(*pane == '2' ? Purpose::diff : Purpose::task, Error(ErrorCode::io, "the disk is broken"));
        desk.press("e");
        CHECK_THAT(desk.screen(), Holds("It could not be read"));
        CHECK(desk.outside.empty());
    }
}

TEST_CASE("The cursor stays at the text of its line, and a range ends when its lines change") {
    auto desk = reviewing(diff_of(k_patch));
    const auto again = [&](const std::string& text) {
        desk.event("aaaa0000");
        desk.pass(std::chrono::milliseconds(300));
        desk.answer(Purpose::diff, written(diff_of(text)));
        (void)desk.frame();
    };
    go_to(desk, "whole = sum");
    desk.press("v");
    desk.press("j");
    auto longer = k_patch;  // two lines more above
    longer.replace(longer.find("+10,5"), 5, "+10,7");
    longer.insert(longer.find("+    whole"), "+    # one\n+    # two\n");
    again(longer);
    CHECK_THAT(line_at(desk), Holds("return round"));
    CHECK(text_of(desk).places.all.at(text_of(desk).cursor).now == 14);
    REQUIRE(text_of(desk).range);
    CHECK(text_of(desk).places.all.at(*text_of(desk).range).now == 13);
    again(k_patch);
    CHECK(text_of(desk).places.all.at(text_of(desk).cursor).now == 12);
    REQUIRE(text_of(desk).range);
    auto other = k_patch;  // the first line of the range is another one
    other.replace(other.find("whole = sum"), 5, "total");
    again(other);
    CHECK_THAT(line_at(desk), Holds("return round"));
    CHECK_FALSE(text_of(desk).range);
    CHECK_THAT(desk.screen(), Holds("The lines of the range have changed, so it is ended"));
    desk.press("v");
    auto between = other;
    between.replace(between.find("return round"), 12, "return floor");
    again(between);
    CHECK_THAT(line_at(desk), Holds("return floor"));  // there is no line with its text
    CHECK_FALSE(text_of(desk).range);
}

TEST_CASE("A remark that is taken over neither takes nor offers the text that is kept for a comment") {
    auto diff = diff_of(k_patch);
    diff.remarks = {{"here", "src/cart.py", 12, 12, "Round half up", "review 1"}};
    auto desk = reviewing(diff);
    go_to(desk, "whole = sum");
    desk.press("c");
    desk.type("mine");
    desk.press("Esc");
    go_to(desk, "Round half up");
    desk.press("t");
    CHECK(sent_comment(desk).text == "Round half up");
    desk.answer(Purpose::act, Error(ErrorCode::conflict, "it is taken over already"));
    CHECK_FALSE(desk.core.state().prompt);
    CHECK_THAT(desk.screen(), Holds("taken over already") && !Holds("The text is kept"));
    desk.press("t");
    desk.answer(Purpose::act, taken(1));
    go_to(desk, "whole = sum");
    desk.press("c");
    CHECK(desk.core.state().prompt->text == "mine");
}

TEST_CASE("A refused text does not open its prompt under the keys of a person who goes on") {
    auto diff = diff_of(k_patch);
    diff.comments = {comment_view(1, "draft", "src/cart.py", 12, "one")};
    for (const bool is_edit : {false, true}) {
        auto desk = reviewing(diff);
        go_to(desk, "return round");
        desk.press(is_edit ? "e" : "c");
        desk.type("Why");
        desk.press("Enter");
        desk.press("j");
        desk.answer(Purpose::act, Error(ErrorCode::conflict, "other lines stand there now"));
        CHECK_FALSE(desk.core.state().prompt);
        const std::string key = is_edit ? "e" : "c";
        CHECK_THAT(desk.screen(), Holds("other lines stand") && Holds("The text is kept; " + key + " offers it again"));
        go_to(desk, "return round");
        desk.press(key);
        REQUIRE(desk.core.state().prompt);
        CHECK_THAT(desk.core.state().prompt->text, Holds("Why"));
    }
}

TEST_CASE("The dashboard does not quit with a text that is not sent, unless q is pressed twice") {
    for (const char* key : {"r", "c"}) {
        auto desk = reviewing(diff_of(k_patch));
        go_to(desk, "return round");
        desk.press(key);
        desk.type("half");
        desk.press("Esc");
        desk.press("Left");
        desk.press("q");
        if (desk.core.state().pane_open) desk.press("q");
        if (!desk.core.state().message) desk.press("q");
        CHECK(desk.outside.empty());
        CHECK_THAT(desk.screen(), Holds("A text is not sent; q again quits"));
        desk.press("j");
        desk.press("C-c");
        CHECK(desk.outside.empty());
        desk.press("q");
        REQUIRE(desk.outside.size() == 1);
        CHECK(desk.outside.front().what == dashboard::Outside::What::quit);
    }
    Desk gone({in_review("aaaa0000")}, 140, 40);
    gone.press("r");
    gone.type("half");
    gone.press("Esc");
    gone.list({running("bbbb0000")});
    gone.press("q");
    CHECK(gone.outside.empty());
    Desk merged({in_review("aaaa0000")}, 140, 40);
    merged.press("r");
    merged.type("half");
    merged.press("Esc");
    merged.press("m");
    merged.press("y");
    merged.answer(Purpose::act, Json{{"task", written(ended("aaaa0000"))}});
    merged.press("q");
    CHECK(merged.outside.size() == 1);
    Desk sending({in_review("aaaa0000")}, 140, 40);
    sending.press("C");
    sending.answer(Purpose::diff, written(diff_of(k_patch)));
    go_to(sending, "return round");
    write_comment(sending, "Why");
    sending.press("C");
    sending.press("q");
    CHECK(sending.outside.empty());
    sending.answer(Purpose::act, taken(1));
    sending.press("q");
    CHECK(sending.outside.size() == 1);
}

TEST_CASE("A rejection waits for a second r while the text of a comment is not saved") {
    auto diff = diff_of(k_patch);
    diff.comments = {comment_view(1, "draft", "src/cart.py", 12, "one")};
    for (const std::string key : {"c", "e"}) {
        auto desk = reviewing(diff);
        go_to(desk, "return round");
        desk.press(key);
        desk.type("half");
        desk.press("Esc");
        desk.press("r");
        CHECK_FALSE(desk.core.state().prompt);
        CHECK_THAT(desk.screen(), Holds("The text of a comment is not saved: " + key + " in the pane offers it again"));
        desk.type("mx");  // typed for the rejection
        CHECK_FALSE(desk.core.state().question);
        desk.pass(std::chrono::milliseconds(1100));
        desk.press("r");
        REQUIRE(desk.core.state().prompt);
        CHECK(desk.core.state().prompt->what == dashboard::Prompt::For::reject);
        desk.press("Esc");
        desk.press(key);
        desk.press("Esc");  // kept once more
        desk.press("r");
        CHECK_FALSE(desk.core.state().prompt);
        desk.press("Esc");
        desk.press(key);
        desk.press("Enter");
        desk.answer(Purpose::act, taken(1));
        desk.press("r");
        CHECK(desk.core.state().prompt);
    }
}

TEST_CASE("What an editor had saved before it failed is kept") {
    auto desk = reviewing(diff_of(k_patch));
    go_to(desk, "return round");
    desk.press("c");
    desk.type("short");
    desk.press("C-e");
    (void)desk.core.on_edited("long\nand more\n", desk.now, "The editor ended with status 1");
    CHECK(desk.core.state().prompt->text == "long\nand more");
    CHECK_THAT(desk.screen(), Holds("The editor ended with status 1; the text is what it saved before"));
    desk.press("C-e");
    (void)desk.core.on_edited(std::nullopt, desk.now, "No space left");
    CHECK(desk.core.state().prompt->text == "long\nand more");
    CHECK_THAT(desk.screen(), Holds("No space left; nothing was changed"));
}

TEST_CASE("A comment on the base of a renamed file is at its name there, and at no other file of that name") {
    auto diff = diff_of(k_patch);
    auto renamed = comment_view(1, "draft", "old.txt", 1, "Of the base"), other = renamed;
    renamed.side = other.side = DiffSide::before;
    other.number = 2;
    other.path = "new.txt";
    diff.comments = {renamed, other};
    auto desk = reviewing(diff);
    CHECK_THAT(desk.screen(), Holds("-one\n  │ #1 draft\n  │ Of the base\n+two\n"));
    CHECK_THAT(desk.screen(), Holds("not shown here\n  │ #2 draft, new.txt:-1\n"));
}

TEST_CASE("To remove a question that was asked again is not to remove the comment") {
    auto diff = diff_of(k_patch);
    auto comment = comment_view(3, "draft", "src/cart.py", 12, "Why?");
    comment.turns.front().answer = "Because";
    comment.turns.push_back({"Because of what?", k_desk_time, {}, {}});
    diff.comments = {comment};
    auto desk = reviewing(diff);
    go_to(desk, "return round");
    desk.press("X");
    CHECK_THAT(desk.screen(), Holds("Remove the new question of comment #3? (y/N)"));
    desk.press("y");
    CHECK(sent_change(desk).change == "remove");
    desk.answer(Purpose::act, taken(0));
    CHECK_THAT(desk.screen(), Holds("comment #3 is not asked again"));
}

TEST_CASE("A range steps over comments, and ( and ) go from one to the next") {
    auto diff = diff_of(k_patch);
    diff.comments = {comment_view(1, "draft", "src/cart.py", 11, "First"),
                     comment_view(2, "draft", "src/cart.py", 13, "Second")};
    auto desk = reviewing(diff);
    go_to(desk, "whole = sum");
    desk.press("v");
    desk.press("j");
    CHECK_THAT(line_at(desk), Holds("round(whole)"));
    desk.press("Esc");
    desk.press(")");
    CHECK_THAT(line_at(desk), Holds("#2"));
    desk.press("(");
    CHECK_THAT(line_at(desk), Holds("#1"));
}

TEST_CASE("A remark whose lines have changed is not offered to be taken over") {
    auto diff = diff_of(k_patch);
    diff.remarks = {{"outdated", "src/cart.py", 11, 11, "Wrong sign", "review 1"}};
    auto desk = reviewing(diff);
    desk.press(")");
    CHECK_THAT(line_at(desk), Holds("outdated"));
    CHECK_THAT(desk.screen(), !Holds("take over"));
    desk.press("t");
    CHECK(desk.sent.empty());
    CHECK_THAT(desk.screen(), Holds("Its lines have changed since"));
}
