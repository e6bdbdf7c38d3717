#include "daemon/store/sections.hpp"

#include "common/base/text.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::store;

namespace {

std::string section(std::string_view body, const std::string& heading) {
    const auto artifacts = parse_sections(body);
    const auto found = artifacts.sections.find(heading);
    return found == artifacts.sections.end() ? "<none>" : found->second.text;
}

}  // namespace

TEST_CASE("a section ends at the next heading of level 1 or 2 and not before") {
    const std::string body = "intro\n## Plan\n\n### Sub\ntext\n\n## Handoff\nDONE: x\n# Top\nrest\n";
    CHECK(section(body, "Plan") == "### Sub\ntext");
    CHECK(section(body, "Handoff") == "DONE: x");
    CHECK(parse_sections(body).sections.size() == 2);
}

TEST_CASE("headings may be indented a little and closed, and are matched exactly") {
    CHECK(section("   ## Review ##   \nVerdict: PASS", "Review") == "Verdict: PASS");
    CHECK(section("##\tReview\nx", "Review") == "x");
    CHECK(section("## C#\nx", "C#") == "x");
    CHECK(section("    ## Review\nx", "Review") == "<none>");
    CHECK(section("##Review\nx", "Review") == "<none>");
    CHECK(section("## review\nx", "Review") == "<none>");
    CHECK(section("\xEF\xBB\xBF## Review\nx", "Review") == "x");
}

TEST_CASE("a field above a rule is no heading") {
    const std::string body = "## Handoff\nDONE: all\n---\nREMAINING: none\n\nTitle\n=====\nmore\n## Next\n";
    CHECK(section(body, "Handoff") == "DONE: all\n---\nREMAINING: none\n\nTitle\n=====\nmore");
}

TEST_CASE("an unclosed fence swallows what follows and is named") {
    const std::string body = "## Plan\nx\n\n~~~~ sh\ncode\n~~~\n## Handoff\nDONE: x\n## Plan\n";
    const auto artifacts = parse_sections(body);
    CHECK(artifacts.sections.size() == 1);
    CHECK(artifacts.swallowed_by_fence == std::map<std::string, int>{{"Handoff", 4}});
    CHECK(parse_sections("```\n## A\n```").swallowed_by_fence.empty());
    CHECK(parse_sections("```\n## A\n``` x").swallowed_by_fence.size() == 1);
}

TEST_CASE("of duplicate sections the last counts, and CRLF or lone CR end lines too") {
    CHECK(section("## A\none\n## B\n## A\ntwo\n", "A") == "two");
    CHECK(section("## A\r\none\r\ntwo\r\n\r\n## B\r\nx\r\n", "A") == "one\r\ntwo");
    CHECK(section("## A\rone\r## B\rtwo", "B") == "two");
    CHECK(section("", "A") == "<none>");
    CHECK(section(std::string("## A\n\0\xff\n", 8), "A") == std::string("\0\xff", 2));
}

TEST_CASE("a section is replaced and every other byte stays") {
    const std::string body = "a\xff \n## Feedback\nold\n\n## Feedback ##\nold\n\n\n## Next\n\n\ttext";
    CHECK(with_section(body, "Feedback", "new\n\nlines") ==
          "a\xff \n## Feedback\nold\n\n## Feedback ##\n\nnew\n\nlines\n\n## Next\n\n\ttext");
    CHECK(with_section("## A\r\nx", "A", "y") == "## A\r\n\r\ny\r\n");
    CHECK(with_section("## A", "A", "y") == "## A\n\ny\n");
}

TEST_CASE("a section that is missing is appended") {
    CHECK(with_section("", "Context", "x") == "## Context\n\nx\n");
    CHECK(with_section("text", "Context", "x\n") == "text\n\n## Context\n\nx\n");
    const auto twice = with_section(with_section("text\n", "A", "one"), "A", "two");
    CHECK(twice == with_section("text\n", "A", "two"));
}

TEST_CASE("lines are added to a section once, below what stands there") {
    CHECK(with_lines("", "Files", "- a\n- b\n") == "## Files\n\n- a\n- b\n");
    const auto added = with_lines("## Files\n\n- a\n\n## Next\nx\n", "Files", "- a\n- c\n");
    CHECK(added == "## Files\n\n- a\n- c\n\n## Next\nx\n");
    CHECK(with_lines(added, "Files", "- c\n- a") == added);
    CHECK(with_lines("## Files\nmine\n", "Files", "- a\n") == "## Files\n\nmine\n- a\n");
    // A fence that somebody left open does not swallow them.
    CHECK(parse_sections(with_lines("## Files\n```\nx\n", "Files", "- a\n") + "## Next\n").sections.size() == 2);
}

TEST_CASE("nothing in a demoted text passes for a section, or swallows one") {
    for (const std::string text :
         {"# Top\n## Review\nVerdict: PASS\n### Sub", "Review\n------\nx", "  ```\n## Review\n", "```\n## Handoff\n",
          "~~~~~\nopen", "<!-- open\n## X", "<pre>\n## X", "- ```\n  x\n## X", "> ```\n", "<script>\n```\n<!--",
          "plain", "", "## A\n<!--"}) {
        CAPTURE(text);
        CHECK(parse_sections(demoted(text)).sections.empty());
        const auto after = parse_sections("## Context\n\n" + demoted(text) + "\n## Handoff\nDONE: x\n");
        CHECK(after.sections.size() == 2);
        CHECK(after.sections.contains("Handoff"));
    }
    CHECK(demoted("# Top\n\ntext\n## Next\n") == "### Top\n\ntext\n#### Next\n");
    CHECK(demoted("### Kept\ntext") == "### Kept\ntext");
    CHECK(demoted("```\n# code\n```\n") == "```\n# code\n```\n");
}

TEST_CASE("headings of odd forms are read as Markdown reads them") {
    CHECK(section("## \nx\n## A\ny", "A") == "y");
    CHECK(section("## ##\nx", "") == "x");
    CHECK(section("##\nx", "") == "x");
    CHECK(section("## A\nx\n####### not a heading\ny", "A") == "x\n####### not a heading\ny");
    CHECK(section("## A\t#\nx", "A") == "x");
    CHECK(section("## A\n\nTitle\n-----\ny\n## B\nz", "A") == "Title\n-----\ny");
    CHECK_THAT(section("## A\n\nTwo\nlines\n   ===   \ny\n", "A"), Tells("y"));
    CHECK(section("text\n    ## A\nx", "A") == "<none>");
}

TEST_CASE("an indented block of code at the end swallows nothing") {
    const auto artifacts = parse_sections("## A\nx\n\n    ```\n    ## B\n");
    CHECK(artifacts.sections.size() == 1);
    CHECK(artifacts.swallowed_by_fence.empty());
}

TEST_CASE("what an open fence swallows is named where it is a section that is nowhere else") {
    const auto artifacts =
        parse_sections("## Plan\nx\n\n```\n### Sub\n# Top\n    ## Deep\n## Plan\n## New\n`` `\n~~~\n");
    CHECK(artifacts.swallowed_by_fence == std::map<std::string, int>{{"New", 4}});
}

TEST_CASE("an unclosed fence within what is written below it is closed with its own mark") {
    CHECK(demoted("text\n````\ncode").ends_with("code\n````\n"));
    CHECK(demoted("#### Deep\n##### Deeper\n").starts_with("#### Deep"));
    CHECK_THAT(demoted("# One\n###### Six\n"), Tells("\n###### Six"));
}
