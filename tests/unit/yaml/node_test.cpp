#include "daemon/yaml/node.hpp"

#include "tests/catch.hpp"

using namespace orange;
using yaml::parse;
using yaml::scalar_text;

namespace {

std::string error_of(std::string_view text) {
    const auto node = parse(text, "f.yml");
    REQUIRE_FALSE(node);
    return node.error().message;
}

/// What a reader makes of `key: <scalar_text(text)>`.
yaml::Node read_back(std::string_view text) {
    const auto node = parse("key: " + scalar_text(text) + "\nnext: x\n", "f.yml");
    INFO(scalar_text(text));
    REQUIRE(node);
    REQUIRE(node->members.size() == 2);
    return *node->find("key");
}

}  // namespace

TEST_CASE("a document becomes plain values with their places") {
    const auto node = parse("name: x\nlist:\n  - 1\n  - \"two\"\nempty:\nblock: |\n  a\n  b\n", "f.yml");
    REQUIRE(node);
    REQUIRE(node->is_map());
    CHECK(node->find("name")->scalar == "x");
    CHECK_FALSE(node->find("name")->quoted);
    const auto& list = *node->find("list");
    REQUIRE(list.items.size() == 2);
    CHECK(list.items[0].place.line == 3);
    CHECK(list.items[0].place.column == 5);
    CHECK(list.items[1].quoted);
    CHECK(node->find("empty")->is_null());
    CHECK(node->find("empty")->place.line == 5);
    CHECK(node->find("block")->scalar == "a\nb\n");
    CHECK(node->find("block")->quoted);
    CHECK(node->member_places[1].line == 2);
    CHECK(node->find("nothing") == nullptr);
}

TEST_CASE("an empty text is a null node, and so is one of comments") {
    CHECK(parse("", "f")->is_null());
    CHECK(parse("# only this\n", "f")->is_null());
    CHECK(parse("---\n", "f")->is_null());
    CHECK(parse("a: ~\nb: null", "f")->find("a")->is_null());
    CHECK(parse("a: \"null\"", "f")->find("a")->is_scalar());
}

TEST_CASE("columns count characters, not bytes") {
    const auto node = parse("- {é: [ü, x]}\n", "f");
    REQUIRE(node);
    CHECK(node->items[0].members[0].second.items[1].place.column == 11);
}

TEST_CASE("what is refused names file, line and column") {
    CHECK(error_of("a: 1\nb: [1, 2\n").starts_with("f.yml:2:4: "));
    CHECK_THAT(error_of("a: 1\nb: 2\na: 3\n"), Catch::StartsWith("f.yml:3:1: ") && Tells("\"a\""));
    CHECK_THAT(error_of("x: {a: 1, a: 2}"), Catch::StartsWith("f.yml:1:11: ") && Tells("\"a\""));
    CHECK_THAT(error_of("a: !mine x"), Catch::StartsWith("f.yml:1:4: ") && Tells("!mine"));
    CHECK(error_of("a: 1\n---\nb: 2\n").starts_with("f.yml:"));
    CHECK(error_of("? [a, b]\n: c\n").starts_with("f.yml:1:"));
    CHECK_THAT(error_of("a: 1\nb: \"\x1b[0m\"\n"), Catch::StartsWith("f.yml:2:5: ") && Tells("\\x1b"));
    CHECK_THAT(error_of("a: 1\nb: \xff\n"), Catch::StartsWith("f.yml:2:1: ") && Tells("UTF-8"));
    CHECK_FALSE(error_of(std::string_view("\0a\0:", 4)).empty());
    CHECK(error_of("a: *nowhere").starts_with("f.yml:1:"));
    CHECK_THAT(error_of(std::string(2 << 20, 'a')), Tells("1"));
}

TEST_CASE("a tab and an open bracket are refused where they stand") {
    for (const auto& [text, place] :
         std::vector<std::pair<std::string, std::string>>{{"env:\n\tA: b\n", "f.yml:2:1: "},
                                                          {"env:\n  A: b\n\tB: c\n", "f.yml:3:1: "},
                                                          {"states:\n  - a\n  \t- b\n", "f.yml:3:3: "},
                                                          {"a:\n  b:\n\tc: d\n", "f.yml:3:1: "},
                                                          {"a:\n\t- x\n\t- y\n", "f.yml:2:1: "},
                                                          {"a:\n-\tb: 1\n", "f.yml:2:2: "},
                                                          {"notify: [a, b\npoll: 3\n", "f.yml:1:9: "},
                                                          {"a: 1\nargv: {full: [--, x}\nname: y\n", "f.yml:2:14: "},
                                                          {"a: {\n  b: [x, y,\n  c: d\n}\n", "f.yml:2:6: "},
                                                          {"env: {A: b\n", "f.yml:1:6: "},
                                                          {"a: b }\nc: }\n", "f.yml:2:4: "},
                                                          {"a: b: c\n", "f.yml:1:5: "}}) {
        INFO(text);
        const auto parsed = yaml::parse(text, "f.yml");
        REQUIRE_FALSE(parsed);
        CHECK_THAT(parsed.error().message, Tells(place));
        CHECK_THAT(parsed.error().message, !Holds("illegal") && !Holds("not found"));
    }
    CHECK_THAT(yaml::parse("a: [b\n", "f.yml").error().message, Tells("]"));
    CHECK_THAT(yaml::parse("a: {b: c\n", "f.yml").error().message, Tells("}"));
    // A tab elsewhere is YAML.
    CHECK(yaml::parse("a:\tb\nc: [d,\n\te]\n", "f.yml"));
}

TEST_CASE("depth is limited, whether written out or made of aliases") {
    const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    CHECK(parse(nested(64), "f"));
    CHECK_THAT(error_of(nested(65)), Tells("64"));
    CHECK_FALSE(parse(std::string(100'000, '['), "f"));
    CHECK_THAT(error_of("a: &x " + nested(40) + "\nb: &y [" + nested(0) +
                        "[[[[[[[[[[[[[[[[[[[[[[[[[[*x]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"),
               Tells("64"));
}

TEST_CASE("aliases are values, and bombs of them are refused") {
    const auto node = parse("a: &x [1, 2]\nb: *x\n", "f");
    REQUIRE(node);
    CHECK(node->find("b")->items.size() == 2);
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        const auto previous = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + previous;
        for (int k = 0; k < 9; ++k) bomb += ", " + previous;
        bomb += "]\n";
    }
    CHECK_THAT(error_of(bomb), Tells("10,000"));
    CHECK_FALSE(parse("a: &a [*a]\n", "f"));
}

TEST_CASE("what anchors and aliases copy is counted, in values and in bytes") {
    std::string nested;  // each of the anchors holds a copy of all that is within it
    for (int i = 0; i < 60; ++i) nested += "&a" + std::to_string(i) + " [";
    for (int i = 0; i < 1'000; ++i) nested += "x, ";
    nested += std::string(60, ']');
    CHECK_THAT(error_of(nested), Tells("10,000"));
    std::string text = "a: &a " + std::string(100'000, 'x') + "\nb: [";
    for (int i = 0; i < 100; ++i) text += "*a, ";
    CHECK_THAT(error_of(text + "]\n"), Holds("1 MiB of text"));
}

TEST_CASE("a text that needs no anchors can refuse them") {
    CHECK(parse("a: &x 1\nb: *x\n", "f"));
    CHECK_FALSE(parse("a: &x 1\n", "f", orange::yaml::Anchors::refused));
    CHECK_FALSE(parse("a: &x [1]\n", "f", orange::yaml::Anchors::refused));
    CHECK(parse("a: [1]\n", "f", orange::yaml::Anchors::refused));
}

TEST_CASE("places count characters in both directions along a line") {
    const auto node = parse("{é: [ü, {ö: ä, x: }], b: é}", "f");
    REQUIRE(node);
    CHECK(node->member_places[1].column == 23);
    CHECK(node->find("é")->items[0].place.column == 6);
    CHECK(node->find("b")->place.column == 26);
}

TEST_CASE("texts that are safe stay plain") {
    for (const auto* text : {"default", "agent-review", "orange-tasks/a1", "Fix the login page", "feat/x.y_z"}) {
        CHECK(scalar_text(text) == text);
    }
}

TEST_CASE("a text is never taken for something else") {
    for (const auto* text : {"",
                             "yes",
                             "No",
                             "ON",
                             "y",
                             "n",
                             "null",
                             "~",
                             "true",
                             "False",
                             "12",
                             "0x1f",
                             "1e5",
                             "-1",
                             "+1",
                             ".5",
                             ".inf",
                             ".NaN",
                             "nan",
                             "1_000",
                             "0o17",
                             "12:30:45",
                             "=",
                             "<<",
                             "---",
                             "...",
                             "- a",
                             "? a",
                             ": a",
                             "a: b",
                             "a #b",
                             "#a",
                             "&a",
                             "*a",
                             "!a",
                             "|",
                             ">",
                             "@a",
                             "`a`",
                             "%a",
                             "{a}",
                             "[a]",
                             "a, b",
                             "'a'",
                             "\"a\"",
                             " a",
                             "a ",
                             "\ta",
                             "a\nb",
                             "a\\b",
                             "a:",
                             "\x1b[0m",
                             "\x7f",
                             "é",
                             "日本",
                             "2026-11-20",
                             "2026-11-20T10:49:03.120Z",
                             "--- x",
                             "\xe2\x80\xa8",
                             "\xc2\x85",
                             "\xef\xbb\xbf",
                             "\xe2\x80\xae",
                             "\xf0\x9f\x98\x80"}) {
        const auto node = read_back(text);
        CHECK(node.is_scalar());
        CHECK(node.scalar == text);
        if (scalar_text(text).front() != '"') continue;
        CHECK(node.quoted);
    }
    for (const auto* word : {"yes", "12", "null", "2026-11-20", "é", "a:"}) CHECK(scalar_text(word).front() == '"');
}

TEST_CASE("every byte comes out as one line of valid YAML") {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text = std::string("x") + static_cast<char>(byte) + "y";
        const auto written = scalar_text(text);
        CHECK(written.find('\n') == std::string::npos);
        const auto node = read_back(text);
        if (byte < 0x80) CHECK(node.scalar == text);
        if (byte >= 0x80) CHECK(node.scalar == "x\xEF\xBF\xBDy");
    }
}
