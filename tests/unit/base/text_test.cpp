#include "common/base/text.hpp"

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("Trimming takes blanks, tabs and line ends from both sides only") {
    CHECK(trim(" \t a b \r\n") == "a b");
    CHECK(trim(" \n ").empty());
    CHECK(trim("").empty());
}

TEST_CASE("Lines end with either line end, and a last newline adds no line") {
    using Lines = std::vector<std::string_view>;
    CHECK(split_lines("a\r\nb\n\nc") == Lines{"a", "b", "", "c"});
    CHECK(split_lines("a\n") == Lines{"a"});
    CHECK(split_lines("").empty());
    CHECK(split_lines("\n") == Lines{""});
}

TEST_CASE("Splitting keeps empty parts, joining is its reverse") {
    CHECK(split("a,,b", ',') == std::vector<std::string_view>{"a", "", "b"});
    CHECK(split("", ',').size() == 1);
    CHECK(join({"a", "b"}, ", ") == "a, b");
    CHECK(join({}, ", ").empty());
}

TEST_CASE("Case is ASCII's alone") {
    CHECK(to_lower("ÄPass") == "Äpass");
    CHECK(equal_ignoring_case("VERDICT", "verdict"));
    CHECK_FALSE(equal_ignoring_case("verdict", "verdicts"));
}

TEST_CASE("UTF-8 is checked for overlong forms, surrogates and the last code point") {
    CHECK(is_valid_utf8("aé€😀"));
    for (const std::string bad : {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe2\x82"}) {
        CHECK_FALSE(is_valid_utf8(bad));
    }
}

TEST_CASE("Nothing printable can steer a terminal") {
    CHECK(printable("\x1b[31mred\x07") == "\\x1b[31mred\\x07");
    CHECK(printable("\u009b31m") == "\\u009b31m");
    CHECK(printable("a\u202eb\u2066c\u200fd") == "a\\u202eb\\u2066c\\u200fd");
    CHECK(printable("a\rb") == "a\\x0db");
    CHECK(printable("a\nb", true) == "a\nb");
    CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
    CHECK(printable("\xff\xc3") == "\\xff\\xc3");
    CHECK(printable("Größe 😀") == "Größe 😀");
}

TEST_CASE("Lines that are printed as one are told apart, without escapes") {
    CHECK(printable("a\tb\r\nc") == "a b ⏎ c");
    CHECK(printable("\n fatal: no such branch  \n\n\thint: fetch it\n") == "fatal: no such branch ⏎ hint: fetch it");
    CHECK(printable("\n").empty());
    CHECK(printable("a\nb", true) == "a\nb");
}

TEST_CASE("Every byte and every two bytes come out of printable as harmless, valid UTF-8") {
    for (int a = 0; a < 256; ++a) {
        for (int b = 0; b < 256; ++b) {
            const std::string text = {static_cast<char>(a), static_cast<char>(b)};
            const auto out = printable(text);
            bool harmless = is_valid_utf8(out);
            for (const char c : out) harmless = harmless && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
            if (!harmless) {
                CAPTURE(a, b);
                FAIL_CHECK("not harmless");
            }
        }
    }
}

TEST_CASE("A revealed text hides no character") {
    CHECK(revealed("a\u00a0b\u2800c\u3164d\u115fe\u3000f") == "a\\u00a0b\\u2800c\\u3164d\\u115fe\\u3000f");
    CHECK(revealed("a\u200bb\u200dc\u2060d\u00ade\ufe0ff\U000E0041g") ==
          "a\\u200bb\\u200dc\\u2060d\\u00ade\\ufe0ff\\U000e0041g");
    CHECK(revealed("g\u0301\u0301\u0301h\u0301") == "g\u0301\u0301\\u0301h\u0301");
    CHECK(revealed("\u0301a\n\u0301b", true) == "\\u0301a\n\\u0301b");  // they would stand on something else
    CHECK(revealed("\x1b[2Ja\u202eb\xff\tc\nd") == "\\x1b[2Ja\\u202eb\\xff c ⏎ d");
    for (const std::string text : {"", "rm -rf build", "Größe 日本 😀 e\u0301"}) CHECK(revealed(text) == text);
    const auto once = revealed("\u200b\u0301 \\u200b");
    CHECK(revealed(once) == once);
}

TEST_CASE("A text is cut to columns without splitting a character") {
    CHECK(ellipsized("short", 10) == "short");
    CHECK(ellipsized("Größe des Baums", 5) == "Größ…");
    CHECK(ellipsized("abc", 0).empty());
    CHECK(columns_of(ellipsized("😀😀😀😀", 3)) == 3);
}

TEST_CASE("A count has its noun in the right number, a hash tells texts apart") {
    CHECK(counted(1, "task") == "1 task");
    CHECK(counted(0, "task") == "0 tasks");
    CHECK(fast_hash("a") != fast_hash("b"));
    CHECK(fast_hash("") == "cbf29ce484222325");
}

TEST_CASE("A size has a unit, and a text is cut at whole characters") {
    CHECK(size_text(0) == "0 bytes");
    CHECK(size_text(1) == "1 byte");
    CHECK(size_text(12'345) == "12 KiB");
    CHECK(size_text(32 << 20) == "32 MiB");
    CHECK(size_text(3 << 19) == "1.5 MiB");
    CHECK(size_text(std::int64_t{5} << 29) == "2.5 GiB");
    CHECK(first_bytes("aäb", 2) == "a");
    CHECK(first_bytes("aäb", 3) == "aä");
    CHECK(first_bytes("aäb", 9) == "aäb");
    CHECK(first_bytes("ä", 1).empty());
}

TEST_CASE("Capitals matter to a search that has one") {
    CHECK(found_in("Round the Total", "total"));
    CHECK(found_in("Round the Total", "Total"));
    CHECK_FALSE(found_in("Round the total", "Total"));
    CHECK_FALSE(found_in("Round", "rounds"));
    CHECK(found_in("", ""));
}
