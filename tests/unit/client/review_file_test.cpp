// The file of `orange review`: which lines the comments in it are about, whatever an editor and a person did to it.
#include "client/commands/review_file.hpp"

#include <algorithm>
#include <random>

#include "common/base/text.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::commands;

namespace {

constexpr const char* k_patch =
    "diff --git a/src/cart.py b/src/cart.py\n"
    "index 111..222 100644\n"
    "--- a/src/cart.py\n"
    "+++ b/src/cart.py\n"
    "@@ -1,6 +1,7 @@\n"
    " def total():\n"
    "-    old = 1\n"
    "+    new = 1\n"
    "+    more = 2\n"
    " \n"
    " def tax():\n"
    "     pass\n"
    " }\n"
    "@@ -20,3 +21,4 @@\n"
    " begin\n"
    "+middle\n"
    "     pass\n"
    " }\n"
    "diff --git a/logo.png b/logo.png\n"
    "index 333..444 100644\n"
    "Binary files a/logo.png and b/logo.png differ\n"
    "diff --git a/old.txt b/new name.txt\n"
    "similarity index 90%\n"
    "rename from old.txt\n"
    "rename to new name.txt\n"
    "--- a/old.txt\t\n"
    "+++ b/new name.txt\t\n"
    "@@ -1,2 +1,2 @@\n"
    "-one\r\n"
    "+two\r\n"
    " last\n"
    "\\ No newline at end of file\n";

std::vector<ReviewRow> cart() {
    return review_rows(k_patch);
}

/// Inserts `typed` below the first row `row`.
std::string with(std::string page, const std::string& row, const std::string& typed) {
    const auto at = page.find("\n" + row + "\n");
    REQUIRE(at != std::string::npos);
    return page.insert(at + row.size() + 2, typed);
}

std::string without(std::string page, const std::string& text) {
    const auto at = page.find(text);
    REQUIRE(at != std::string::npos);
    return page.erase(at, text.size());
}

std::string page_of(const std::vector<ReviewRow>& rows) {
    return review_page(rows, {"Explanation"}, {});
}

/// Each comment as "path:line-end|quoted|text"; a problem instead, if there is one.
std::vector<std::string> read(const std::vector<ReviewRow>& rows, const std::string& edited) {
    const auto reading = read_review(rows, edited);
    if (!reading.problems.empty()) {
        const auto& problem = reading.problems.front();
        return {"problem line " + std::to_string(problem.line) + ": " + problem.why};
    }
    std::vector<std::string> all;
    for (const auto& each : reading.made) {
        all.push_back(each.path.value_or("## " + each.section.value_or("")) +
                      (each.side == DiffSide::before ? ":-" : ":") + std::to_string(each.line) +
                      (each.end ? "-" + std::to_string(*each.end) : "") + "|" + each.quoted.value_or("?") + "|" +
                      each.text);
    }
    return all;
}
using Read = std::vector<std::string>;

bool is_problem(const Read& read, const std::string& line) {
    return read.size() == 1 && read.front().starts_with("problem line " + line + ":");
}

}  // namespace

TEST_CASE("Comments below lines of a diff are about these lines") {
    const auto rows = cart();
    auto page = page_of(rows);
    CHECK(read(rows, page).empty());
    page = with(page, "-    old = 1", "> Why not\n>\n> here?\n");
    page = with(page, "+    more = 2", ">  Two\n\n> Another\n# left out\n>third\n>\n");
    page = with(page, " last", "> The end\n");
    CHECK(read(rows, page) == Read{"src/cart.py:-2|    old = 1|Why not\n\nhere?", "src/cart.py:3|    more = 2|Two",
                                   "src/cart.py:3|    more = 2|Another", "src/cart.py:3|    more = 2|third",
                                   "new name.txt:2|last|The end"});
}

TEST_CASE("A comment may be about several lines of its side") {
    const auto rows = cart();
    CHECK(read(rows, with(page_of(rows), "+    more = 2", "> [3] All\n")) ==
          Read{"src/cart.py:1-3|def total():\n    new = 1\n    more = 2|All"});
    CHECK(read(rows, with(page_of(rows), "-    old = 1", "> [2]\n> All\n")) ==
          Read{"src/cart.py:-1-2|def total():\n    old = 1|All"});
    CHECK(is_problem(read(rows, with(page_of(rows), " begin", "> [2] Not over the gap\n")), "22"));
    CHECK(is_problem(read(rows, with(page_of(rows), " begin", "> [0] None\n")), "22"));
    CHECK(is_problem(read(rows, with(page_of(rows), " begin", "> [1]\n")), "22"));
    CHECK(read(rows, with(page_of(rows), " begin", "> [1]: a link\n")) == Read{"src/cart.py:21|begin|[1]: a link"});
    CHECK(read(rows, with(page_of(rows), " begin", "> [99999999999999999999] x\n")) ==
          Read{"src/cart.py:21|begin|[99999999999999999999] x"});
}

TEST_CASE("Rows may be deleted, and the comments stay at their lines") {
    const auto rows = cart();
    auto page = with(page_of(rows), "+middle", "> Here\n");
    const std::string first(k_patch, std::string(k_patch).find("@@ -20"));
    CHECK(read(rows, without(page, first)) == Read{"src/cart.py:22|middle|Here"});
    CHECK(read(rows, "+middle\n> Here\n") == Read{"src/cart.py:22|middle|Here"});
    page = with(page_of(rows), "+two\r", "> Two\n");
    CHECK(read(rows, without(page, std::string(k_patch).substr(0, std::string(k_patch).find("diff --git a/old")))) ==
          Read{"new name.txt:1|two\r|Two"});
}

TEST_CASE("A row that can be two is not guessed, and all rows come back with the comment") {
    const auto rows = cart();
    const auto reading = read_review(rows, "     pass\n> Why?\n");
    REQUIRE(reading.problems.size() == 1);
    CHECK(reading.only_ambiguous);
    const auto again = review_page(rows, {"Explanation"}, {}, reading.comments);
    CHECK(read(rows, again) == Read{"src/cart.py:6|    pass|Why?"});
    // The lines around it that are left decide.
    CHECK(read(rows, " def tax():\n     pass\n> Why?\n begin\n") == Read{"src/cart.py:6|    pass|Why?"});
    CHECK(read(rows, "+middle\n     pass\n> Why?\n") == Read{"src/cart.py:23|    pass|Why?"});
    CHECK(read(rows, "     pass\n> One\n }\n     pass\n> Two\n") ==
          Read{"src/cart.py:6|    pass|One", "src/cart.py:23|    pass|Two"});
    CHECK_FALSE(read_review(rows, " def tax():\n     pass\n> Why?\n }\n").problems.empty());
    CHECK_FALSE(read_review(rows, " def tax():\n }\n> Why?\n").problems.empty());
}

TEST_CASE("A row that was changed, added or moved is named, and so is a comment at a wrong place") {
    const auto rows = cart();
    const auto page = page_of(rows);
    const auto lines = [&](const std::string& text) {
        return std::to_string(std::ranges::count(text.substr(0, text.find("HERE")), '\n') + 1);
    };
    for (const auto& typed : {"+    HERE = 2\n", "A text without its mark HERE\n", " begin HERE\n"}) {
        const auto edited = with(page, "+    more = 2", typed);
        CHECK(is_problem(read(rows, edited), lines(edited)));
        CHECK_FALSE(read_review(rows, edited).only_ambiguous);
    }
    for (const auto& row : {"+++ b/src/cart.py", "@@ -1,6 +1,7 @@", "diff --git a/logo.png b/logo.png",
                            "Binary files a/logo.png and b/logo.png differ", "# Explanation"}) {
        INFO(row);
        auto edited = "\n" + page;
        edited = with(edited, row, "> HERE\n");
        CHECK(is_problem(read(rows, edited), lines(edited)));
        CHECK(read_review(rows, edited).comments.front().text == "HERE");
    }
    const auto moved = read_review(rows, "+middle\n> One\n+    new = 1\n> Two\n");
    CHECK(moved.problems.size() == 1);
    CHECK(moved.comments.size() == 2);
}

TEST_CASE("A blank row is a line, and an empty one is not: the comment is about the row above") {
    const auto rows = cart();
    const auto page = page_of(rows);
    CHECK(read(rows, with(page, "+    more = 2", "\n\n> Text\n")) == Read{"src/cart.py:3|    more = 2|Text"});
    CHECK(read(rows, with(page, " ", "> Text\n")) == Read{"src/cart.py:4||Text"});
    CHECK_FALSE(read_review(rows, with(without(page, "+    more = 2\n"), " ", "> Text\n")).problems.empty());
    std::string stripped;
    for (const auto line : split_lines(page)) {
        stripped += std::string(line.substr(0, line.find_last_not_of(" \t\r") + 1)) + "\n";
    }
    CHECK(read(rows, stripped).empty());
    CHECK(read(rows, with(stripped, "+    more = 2", "> Text\n")) == Read{"src/cart.py:3|    more = 2|Text"});
    CHECK(read(rows, with(stripped, "+    more = 2", "\n> Text\n")) == Read{"src/cart.py:3|    more = 2|Text"});
    CHECK(read(rows, with(stripped, "", "> Text\n")) == Read{"src/cart.py:3|    more = 2|Text"});
    CHECK(read(rows, with(stripped, "+two", "> Text\n")) == Read{"new name.txt:1|two\r|Text"});
}

TEST_CASE("Line ends, a mark of UTF-8 and the missing newline of a file do no harm") {
    const auto rows = cart();
    const auto page = with(page_of(rows), "\\ No newline at end of file", "> End it\n");
    CHECK(read(rows, page) == Read{"new name.txt:2|last|End it"});
    CHECK(read(rows, page.substr(0, page.find("> End it") + 8)) == Read{"new name.txt:2|last|End it"});
    std::string dos = "\xEF\xBB\xBF";
    for (const auto line : split_lines(page)) dos += std::string(line) + "\r\n";
    CHECK(read(rows, dos) == Read{"new name.txt:2|last|End it"});
    CHECK(read(rows, "").empty());
    CHECK(read(rows, "\n \n").empty());
}

TEST_CASE("Hostile rows and texts stay in their places") {
    const std::string evil = "# no note\n> no comment\n#! no reason\n";
    const auto rows = review_rows(
        "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,5 @@\n+# no note\n+> no comment\n"
        "+#! no reason\n+\x1b[2J\xEF\xBF\xBD\n+diff --git a/y b/y\n");
    rpc::CommentView comment;
    comment.number = 3;
    comment.state = "answered";
    comment.place = "here";
    comment.path = "x";
    comment.line = comment.end = 2;
    comment.turns = {{evil, {}, evil + "\x1b[2J", {}}};
    auto gone = comment;
    gone.place = "outdated";
    gone.quoted = evil;
    rpc::RemarkView remark{"here", "x", 1, 1, evil, "review 1"};
    const auto notes = review_notes(rows, {comment, gone}, {remark});
    REQUIRE(notes.size() == 3);
    const auto page = with_reasons(review_page(rows, {"x"}, notes), {evil});
    CHECK(page.find('\x1b', page.find("+\x1b") + 2) == std::string::npos);
    CHECK(read(rows, page).empty());
    CHECK(read(rows, with(page, "+> no comment", "> # [x] > \xF0\x9F\x8D\x8A\n")) ==
          Read{"x:2|> no comment|# [x] > \xF0\x9F\x8D\x8A"});
    CHECK(read(rows, with(page, "+diff --git a/y b/y", "> Text\n")) == Read{"x:5|diff --git a/y b/y|Text"});
    CHECK(read(rows, with(page, "+\x1b[2J\xEF\xBF\xBD", "> Text\n")) == Read{"x:4|\x1b[2J\xEF\xBF\xBD|Text"});
    CHECK(with_reasons(page, {"other"}) == with_reasons(review_page(rows, {"x"}, notes), {"other"}));
    CHECK(with_reasons(page, {}) == review_page(rows, {"x"}, notes));
}

TEST_CASE("A section of TASK.md is read like a diff, with the numbers of its own lines") {
    const auto rows =
        section_rows("# Task\n\n## Plan\n\nAPPROACH: one\n```\n## no heading\n```\n## Handoff\n\nDONE\n", "Plan");
    REQUIRE(rows.size() == 6);
    const auto page = page_of(rows);
    CHECK(read(rows, with(page, " APPROACH: one", "> Two\n")) == Read{"## Plan:2|APPROACH: one|Two"});
    CHECK(read(rows, with(page, " ```", "> [2] Text\n")) == Read{"## Plan:2-3|APPROACH: one\n```|Text"});
    CHECK(is_problem(read(rows, "@@ Plan @@\n> Text\n"), "2"));
    CHECK(section_rows("## Plan\n", "Other").empty());
    CHECK(section_rows("## Plan\nold\n## Other\nx\n## Plan\nnew\n", "Plan").back().line == "new");
}

TEST_CASE("Comments of a file that is opened again stand at their rows, or below the first one without one") {
    const auto rows = cart();
    std::vector<TypedComment> typed(3);
    typed[0].text = "Lost";
    typed[1].row = typed[2].row = 7;
    typed[1].text = "One\n\ntwo";
    typed[1].lines = 2;
    typed[2].text = "Three";
    const auto page = review_page(rows, {"Explanation"}, {}, typed);
    const auto reading = read_review(rows, page);
    REQUIRE(reading.problems.size() == 1);
    REQUIRE(reading.comments.size() == 3);
    CHECK(read(rows, without(page, "> Lost\n")) ==
          Read{"src/cart.py:1-2|def total():\n    new = 1|One\n\ntwo", "src/cart.py:2|    new = 1|Three"});
}

TEST_CASE("The reasons on top name the lines of the file that has them") {
    const auto rows = cart();
    auto page = with(page_of(rows), "+    more = 2", "+    changed " + std::string(200, 'x') + "\n");
    for (int i = 0; i < 3; ++i) {
        page = with_problems(page, read_review(rows, page).problems);
        REQUIRE(page.starts_with("#\n#\n#\n#\n#\n#! line "));
        const auto line = std::stoul(page.substr(18));
        const auto lines = split_lines(page);
        REQUIRE(line <= lines.size());
        CHECK(lines[line - 1].starts_with("+    changed"));
    }
}

TEST_CASE("No text of a diff or a task is among the first or last five lines, where an editor reads settings") {
    const std::string none = "#\n#\n#\n#\n#\n";
    const std::string evil = "vim: set modeline:";
    const auto rows = review_rows("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n " + evil + "\n");
    auto page = review_page(rows, {evil}, {{rows.size(), {evil}}});
    CHECK(page.starts_with(none + "# " + evil + "\n"));
    CHECK(page.ends_with(evil + "\n" + none));
    const auto again = with_reasons(page, {evil});
    CHECK(again.starts_with(none + "#! " + evil + "\n# " + evil + "\n"));
    CHECK(with_reasons(again, {}) == page);
    CHECK(with_reasons("\xEF\xBB\xBF#\r\n#!\r\n" + rows.front().text, {"x"}) == none + "#! x\n" + rows.front().text);
    CHECK(with_reasons("#", {}) == none);
}

TEST_CASE("An editor that ends at once without a change has not waited for the person") {
    CHECK(was_too_quick("page", "page", std::chrono::milliseconds(999)));
    CHECK_FALSE(was_too_quick("page", "page", std::chrono::seconds(1)));
    CHECK_FALSE(was_too_quick("page", "page\n", std::chrono::seconds(0)));
}

TEST_CASE("Whichever rows are deleted, a comment is about its line, or none is made") {
    std::mt19937 random(7);
    const auto below = [&](std::size_t number) { return random() % number; };
    int made = 0;
    for (int round = 0; round < 3000; ++round) {
        const auto size = 1 + below(14);
        auto patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1," + std::to_string(size) + " +1," +
                     std::to_string(size) + " @@\n";
        for (std::size_t i = 0; i < size; ++i) {
            const auto letter = below(5);
            patch += (letter == 4 ? std::string(" ") : std::string(" ") + "abcd"[letter]) + "\n";
        }
        const auto rows = review_rows(patch);
        const auto commented = rows.size() - 1 - below(size);
        std::string edited;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i == commented || below(4) > 0) edited += rows[i].text + "\n";
            if (i == commented) edited += std::string(below(5) == 0 ? "\n" : "") + "> Text\n";
        }
        const auto reading = read_review(rows, edited);
        if (!reading.problems.empty()) continue;
        ++made;
        INFO(patch << "---\n" << edited);
        const auto row = reading.comments.at(0).row;
        const auto is_blank = [](const ReviewRow& each) { return each.text == " "; };
        // One of several blank lines in sequence is as good as another.
        const auto [first, last] = std::minmax(row, commented);
        const bool are_blank = std::all_of(rows.begin() + static_cast<std::ptrdiff_t>(first),
                                           rows.begin() + static_cast<std::ptrdiff_t>(last) + 1, is_blank);
        if (row != commented && !are_blank) FAIL("it is about row " << row << ", not " << commented);
    }
    CHECK(made > 1000);
}

TEST_CASE("A large diff of equal rows is read soon") {
    std::string patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,20000 +1,20000 @@\n";
    for (int i = 0; i < 20000; ++i) patch += " }\n";
    const auto rows = review_rows(patch);
    const auto page = page_of(rows);
    CHECK(read(rows, page + "> End\n") == Read{"x:20000|}|End"});
    CHECK_FALSE(read_review(rows, without(page, " }\n }\n") + "> End\n").problems.empty());
}
