#include "client/dashboard/cells.hpp"

#include "client/dashboard/ansi.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::dashboard;

TEST_CASE("A clean text has no control characters, and takes as many columns as it says") {
    for (const std::string hostile : {"a\x1b[31mb", "a\tb\r\nc", "\xe2\x80\xae rtl", "bad \xff\xfe utf",
                                      "\xc2\x9b"
                                      "31m",
                                      "\xed\xa0\x80", "bom \xef\xbb\xbf", "zero\xe2\x80\x8bwidth", "\x7f\x01\x02"}) {
        const auto shown = clean(hostile);
        std::size_t sum = 0;
        for (std::size_t at = 0; at < shown.size();) {
            const int width = width_of(next_point(shown, at));
            REQUIRE(width >= 0);
            sum += static_cast<std::size_t>(width);
        }
        CHECK(sum == columns(shown));
    }
}

TEST_CASE("What terminals disagree about is left out: selectors, joiners, skin tones, flags") {
    CHECK(clean("⚙\xef\xb8\x8f") == "⚙");
    CHECK(clean("1\xef\xb8\x8f\xe2\x83\xa3") == "1");
    CHECK(clean("👍🏽") == "👍");
    CHECK(clean("👨\xe2\x80\x8d👩") == "👨👩");
    CHECK(clean("🇩🇪") == "DE");
    CHECK(columns("日本") == 4);
    CHECK(columns("e\xcc\x81") == 1);
    CHECK(clean("\xcc\x81x") == "x");  // a mark without a letter would go to the cell before
}

TEST_CASE("A line is exactly as wide as it is asked for") {
    for (const std::size_t room : {1U, 2U, 3U, 7U, 20U}) {
        for (const std::string text : {"", "a", "日本語のテキスト", "plain text that is long enough", "é日e\xcc\x81"}) {
            CHECK(columns(padded(text, room)) == room);
            CHECK(columns(cut(text, room)) <= room);
            Line line(text, k_red);
            line.add(" and more", k_bold);
            CHECK(line.fit(room).width() == room);
        }
    }
}

TEST_CASE("Text is wrapped at blanks, and long words are cut through") {
    CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
    CHECK(wrapped("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
    CHECK(wrapped("", 3) == std::vector<std::string>{""});
}

TEST_CASE("Colours of a screen become looks, and every other sequence is dropped") {
    const auto lines =
        screen_lines("\x1b[31mred\x1b[0m plain\n\x1b[1;38;5;208morange\x1b[m\x1b]0;title\x07\x1b[2J\x1b(B end\n");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].spans[0].look == k_red);
    CHECK(lines[0].text() == "red plain");
    CHECK(lines[1].spans[0].look.fg == 208);
    CHECK(lines[1].spans[0].look.bold);
    CHECK(lines[1].text() == "orange end");
    CHECK(screen_lines("\x1b[38;2;255;0;0mx")[0].spans[0].look.fg == 196);
    CHECK(screen_lines("a\tb")[0].text() == "a       b");
    for (const std::string torn : {"\x1b", "\x1b[", "\x1b[38;2;1", "\x1b]0;never", "\x1b[38;5m", "\x1bP"})
        (void)screen_lines(torn + "\n" + torn);
}
