#include "daemon/store/markdown.hpp"

#include <string>
#include <vector>

#include "daemon/store/sections.hpp"
#include "tests/catch.hpp"

using namespace orange::store;

namespace {

std::vector<int> heading_lines(std::string_view text) {
    return markdown::outline_of(markdown::Lines(text)).headings;
}

std::string repeated(std::string_view piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
}

}  // namespace

TEST_CASE("which lines are headings depends on the fences, comments and lists around them") {
    struct Row {
        const char* text;
        std::vector<int> headings;
    };
    const Row rows[] = {
        // Levels, indentation and ends of lines.
        {"# a\n## b\n###### c\n####### d\n##e\n##\n##\tf\n", {1, 2, 3, 6, 7}},
        {" ## a\n  ## b\n   ## c\n    ## d\n\t## e\n", {1, 2, 3}},
        {"\xEF\xBB\xBF## a\n\xEF\xBB\xBF## b\n", {1}},
        {"## a\r\n## b\r## c", {1, 2, 3}},
        {"text\n## a\ntext\n", {2}},
        {"> ## a\n\\## b\n## c\n", {3}},
        {"Title\n=====\nTitle\n-----\n", {}},
        {"<pre>\n## a\n</pre>\n<div>\n## b\n", {2, 5}},
        // A fence is closed by as many of its own marks, or more, and nothing behind them.
        {"```\n## a\n```\n## b\n", {4}},
        {"~~~ sh\n## a\n```\n~~~ x\n~~\n~~~~ \n## b\n", {7}},
        {"````\n```\n## a\n`````\n## b\n", {5}},
        {"```\n    ```\n## a\n   ```\n## b\n", {5}},
        {"``` a `b`\n## a\n``\n## b\n", {2, 4}},
        {"~~~ a ~b\n## a\n", {}},
        {"    ```\n## a\n", {2}},
        {"text\n```\n## a\n", {}},
        {"> ```\n## a\n", {2}},
        // An indented fence also ends at the first line of column 0 that has text.
        {"  ```\n\n  ## a\n## b\n", {4}},
        {"  ```\n## a\n  ```\n  ## b\n", {2}},
        {"- ```\n  ## a\n\n## b\n", {4}},
        {"1. text\n\n      ~~~\n      ## a\n      ~~~\n\n   ## b\n## c\n", {8}},
        {"- - 2) ```\n       ## a\n       ```\ntext\n   ## b\n", {5}},
        {"- a\n```\n## b\n```\n## c\n", {5}},
        // Lists.
        {"- ## a\n* ## b\n+ ## c\n1. ## d\n2) ## e\n", {}},
        {"- a\n\n  ## b\n\n   text\n ## c\n## d\n   ## e\n", {7, 8}},
        {"**a**\n  ## b\n-a\n  ## c\n1.a\n  ## d\n1234567890. a\n  ## e\n", {2, 4, 6, 8}},
        {"-\n  ## a\n123456789.\n  ## b\n", {}},
        // Comments.
        {"<!--\n## a\n-->\n## b\n", {4}},
        {"  <!-- a\n```\n--> ## b\n## c\n", {4}},
        {"<!-- a -->\n## b\n<!---->\n## c\n", {2, 4}},
        {"text <!--\n## a\n", {2}},
        {"    <!--\n## a\n", {2}},
        {"- <!--\n  <!--\n## a\n", {3}},
        {"```\n<!--\n```\n## a\n", {4}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        CHECK(heading_lines(row.text) == row.headings);
    }
}

TEST_CASE("a fence or a comment that is open at the end is known with what closes it") {
    const auto outline = [](std::string_view text) { return markdown::outline_of(markdown::Lines(text)); };
    CHECK(outline("a\n~~~~ x\n~~~\n").open_fence == 2);
    CHECK(outline("a\n~~~~ x\n~~~\n").closer == "~~~~");
    CHECK(outline("<!-- a\n```\n").closer == "-->");
    for (const char* text : {"", "```\n```\n", "<!-- a -->", "- ```\n", "  ```\n", "<pre>\n", "<?"}) {
        CAPTURE(text);
        CHECK_FALSE(outline(text).open_fence);
        CHECK(outline(text).closer.empty());
    }
}

TEST_CASE("a hostile text hides no section that stands behind it") {
    for (const char* piece :
         {"![[]()", "> ", "[", "*a ", "- ", "1. ", "<", "<a b=", "\t", "`a", "[a]: b\n===\n", "|-|\n"}) {
        const auto text = "## Plan\nx\n\n" + repeated(piece, 400'000) + "\n\n## Handoff\nDONE: x\n";
        CHECK(parse_sections(text).sections.count("Handoff") == 1);
    }
}
