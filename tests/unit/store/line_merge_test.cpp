#include "daemon/store/line_merge.hpp"

#include "tests/catch.hpp"

using namespace orange;
using namespace orange::store;

TEST_CASE("changes at different places are merged, and at one place all additions stay") {
    const std::string base = "a\nb\nc\nd\ne\n";
    CHECK(merge_lines(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n") == "A\nb\nc\nd\nE\n");
    CHECK(merge_lines(base, base + "x\n", "b\nc\nd\ne\n") == "b\nc\nd\ne\nx\n");
    CHECK(merge_lines(base, base + "x\n", base + "y\n") == base + "x\ny\n");
    CHECK(merge_lines(base, base + "x\ny\n", base + "x\nz\n") == base + "x\ny\nz\n");
    CHECK(merge_lines(base, "x\n" + base, "y\n" + base) == "x\ny\n" + base);
    CHECK(merge_lines(base, "x\n", "y\n") == "x\ny\n");
    CHECK(merge_lines("p1\np2\np3\n", "p1\nP2\np3\n", "q1\nq2\n") == "P2\nq1\nq2\n");
    CHECK(merge_lines("a\n", "a\nb", "c\na\n") == "c\na\nb");
    CHECK(merge_lines("", "", "") == "");
    CHECK(merge_lines("a\r\nb\r\n", "a\r\nb\r\nx\r\n", "y\r\na\r\nb\r\n") == "y\r\na\r\nb\r\nx\r\n");
}

TEST_CASE("what only structures other lines stands for none of another author") {
    CHECK(merge_lines("a\n", "a\n```\nmake\n```\n", "a\n```python\nrun()\n```\n") ==
          "a\n```\nmake\n```\n```python\nrun()\n```\n");
    CHECK(merge_lines("a\n", "a\n```\nmake\n```\n", "a\n```\nmake\n```\nand\n") == "a\n```\nmake\n```\nand\n");
    CHECK(merge_lines("", "{\nx\n}\n", "{\ny\n}\n") == "{\nx\n}\n{\ny\n}\n");
}

TEST_CASE("what one removes is gone, although the other adds beside it") {
    CHECK(merge_lines("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n") == "a\nc\nd\n");
    CHECK(merge_lines("a\nb\n", "a\nb\nx\n", "a\n") == "a\nx\n");
}

TEST_CASE("two texts without a common past are united in the order of both") {
    CHECK(all_lines("a\nb\nc\n", "a\nx\nc\n") == "a\nb\nx\nc\n");
    CHECK(all_lines("a\n", "") == "a\n");
    CHECK(all_lines("", "a\n") == "a\n");
}

TEST_CASE("a line that was changed is told from one that was removed") {
    CHECK(is_changed_line("- [ ] x", "  - [x] x"));
    CHECK(is_changed_line("Mind the rounding.", "Mind the rounding of cents."));
    CHECK_FALSE(is_changed_line("line 2 of writer 1", "line 12 of writer 1"));
    CHECK_FALSE(is_changed_line("body", "new"));
    CHECK_FALSE(is_changed_line("- Use Redis.", "- Do not use Redis; all tests pass."));
    CHECK_FALSE(is_changed_line("", "new"));
}

TEST_CASE("a merge of large texts takes no longer for many differences") {
    std::string base, mine, theirs;
    for (int n = 0; n < 50'000; ++n) {
        const auto line = std::to_string(n % 7 == 0 ? 0 : n) + "\n";
        base += line;
        mine += n % 2 == 0 ? line : "m" + line;
        theirs += n % 3 == 0 ? line : "t" + line;
    }
    const auto merged = merge_lines(base, mine, theirs);
    CHECK(merged.find("\nm49999\n") != std::string::npos);
    CHECK(merged.find("\nt49999\n") != std::string::npos);
}
