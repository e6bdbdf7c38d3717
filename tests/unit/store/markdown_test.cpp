#include "daemon/store/markdown.hpp"

#include <cmark.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "daemon/store/sections.hpp"
#include "tests/catch.hpp"

using namespace orange::store;

namespace {

/// The lines of the headings that stand directly in the document.
using HeadingLines = std::vector<int>;

HeadingLines by_cmark(const std::string& text) {
    const std::unique_ptr<cmark_node, decltype(&cmark_node_free)> document(
        cmark_parse_document(text.data(), text.size(), CMARK_OPT_SOURCEPOS), &cmark_node_free);
    HeadingLines lines;
    for (auto* node = cmark_node_first_child(document.get()); node; node = cmark_node_next(node)) {
        if (cmark_node_get_type(node) == CMARK_NODE_HEADING) lines.push_back(cmark_node_get_start_line(node));
    }
    return lines;
}

HeadingLines by_us(const std::string& text) {
    HeadingLines lines;
    for (const auto& heading : markdown::blocks_of(text).headings) lines.push_back(heading.line);
    return lines;
}

/// Whatever can begin, continue or end a block, and a bit of what only looks so.
const std::vector<std::string>& pieces() {
    static const std::vector<std::string> all = {"\n",
                                                 "\n",
                                                 "\n\n",
                                                 "\r\n",
                                                 "\r",
                                                 " ",
                                                 "  ",
                                                 "    ",
                                                 "     ",
                                                 "\t",
                                                 "> ",
                                                 ">",
                                                 "- ",
                                                 "-",
                                                 "* ",
                                                 "+ ",
                                                 "1. ",
                                                 "2) ",
                                                 "10. ",
                                                 "1.",
                                                 "## x",
                                                 "# ",
                                                 "###",
                                                 "#a",
                                                 "```",
                                                 "~~~",
                                                 "````",
                                                 "~~~~",
                                                 "`",
                                                 "***",
                                                 "---",
                                                 "- - -",
                                                 "===",
                                                 "=",
                                                 "a",
                                                 "b c",
                                                 "[a]: b",
                                                 "[a]:",
                                                 "[a]",
                                                 "[",
                                                 "]",
                                                 "[a\\]]: <b c>",
                                                 "[b]: x \"t\"",
                                                 "[b]: x\n'y'",
                                                 "[c]: /u (t)",
                                                 "<",
                                                 "<b>",
                                                 "</b>",
                                                 "<b",
                                                 "<div>",
                                                 "<div",
                                                 "</div ",
                                                 "<pre>",
                                                 "</pre>",
                                                 "<script>",
                                                 "</SCRIPT>",
                                                 "<textarea>",
                                                 "</textarea>",
                                                 "<!--",
                                                 "-->",
                                                 "<?",
                                                 "?>",
                                                 "<!A",
                                                 "<!a",
                                                 "<![CDATA[",
                                                 "]]>",
                                                 "<a b=\"c\">",
                                                 "<a b='c' d>",
                                                 "<a b=c/>",
                                                 "<p/>",
                                                 "<li",
                                                 "<>",
                                                 "<a\tb = c >",
                                                 "\\",
                                                 "\"",
                                                 "'",
                                                 "(",
                                                 ")",
                                                 "\v",
                                                 "\f",
                                                 "\\\"",
                                                 "\xC2\xA0",
                                                 "\xEF\xBB\xBF",
                                                 std::string("\0", 1),
                                                 "01. ",
                                                 "123456789. ",
                                                 "1234567890. ",
                                                 "_ _"};
    return all;
}

std::string random_text(std::mt19937_64& random) {
    // Few kinds of pieces in one text, so that they meet each other often.
    std::vector<std::string> kinds = {"\n", "[a]: b\n", "===\n<b>\n"};
    for (int i = 0; i < 6; ++i) kinds.push_back(pieces()[random() % pieces().size()]);
    std::string text;
    for (auto left = 1 + random() % 20; left > 0; --left) text += kinds[random() % kinds.size()];
    return text;
}

std::string repeated(std::string_view piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
}

}  // namespace

TEST_CASE("which lines are headings is what cmark says, whatever stands around them") {
    std::mt19937_64 random(20261122);
    for (int i = 0; i < 40'000; ++i) {
        const auto text = random_text(random);
        const auto probed = text + "\n## probe\n";
        if (by_us(text) == by_cmark(text) && by_us(probed) == by_cmark(probed)) continue;
        FAIL("differs for " << Catch::Detail::stringify(text));
    }
}

TEST_CASE("the underline of a Setext heading is the line that made it one") {
    const auto blocks = markdown::blocks_of("[a]: b\n===\nTitle\nof two\n---\n\nOther\n===\n");
    REQUIRE(blocks.headings.size() == 2);
    CHECK(blocks.headings[0].last_line == 5);
    CHECK(blocks.headings[1].line == 7);
    CHECK(blocks.headings[1].is_setext);
}

TEST_CASE("the cost of a text grows with its length alone, whatever it is made of") {
    constexpr std::size_t k_bytes = 400 << 10;
    const auto lists = repeated("- ", k_bytes / 2);
    std::string stairs;
    for (std::size_t depth = 0; stairs.size() < k_bytes / 2; ++depth) stairs += std::string(2 * depth, ' ') + "- a\n";
    std::vector<std::string> texts = {lists + "a", lists + "a" + std::string(k_bytes / 2, '\n'),
                                      stairs + std::string(k_bytes / 2, '\n'),
                                      lists + "a\n" + repeated("\n" + std::string(k_bytes / 8, '\t') + "a\n", k_bytes)};
    for (const char* piece : {"![[]()",
                              "[",
                              "*a ",
                              "*a_ ",
                              "`",
                              "<",
                              "> ",
                              "- ",
                              "> - ",
                              "1. ",
                              "* * * a ",
                              "[a]: b\n",
                              "[a]: b\n===\n",
                              "[a]: b\n\"",
                              "[a]: b \"x\\\"\n",
                              "<!A\n",
                              "    <?\n",
                              "<a b=",
                              "\\\n",
                              "|a|b|\n|-|-|\n",
                              "## x\n",
                              "```\n",
                              "\n",
                              "   \n",
                              ">\n",
                              "> - a\n",
                              "\t",
                              "</pre"}) {
        texts.push_back(repeated(piece, k_bytes));
    }
    for (const auto& text : texts) {
        CAPTURE(text.substr(0, 40));
        CHECK(markdown::blocks_of(text).steps < 8 * text.size());
    }
}

TEST_CASE("a hostile text hides no section that stands behind it") {
    for (const char* piece : {"![[]()", "> ", "[", "*a ", "- "}) {
        const auto text = "## Plan\nx\n\n" + repeated(piece, 100'000) + "\n\n## Handoff\nDONE: x\n";
        CHECK(parse_sections(text).sections.count("Handoff") == 1);
    }
}
