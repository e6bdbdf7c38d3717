// FILE:LINE of `orange comment`, and which of its words is the task.
#include "client/commands/comment_place.hpp"

#include "tests/catch.hpp"

using namespace orange;
using namespace orange::commands;

TEST_CASE("A place is a file or a section, and lines") {
    const auto now = DiffSide::now, before = DiffSide::before;
    const std::pair<std::string, LinePlace> places[] = {
        {"src/cart.py:12", {"src/cart.py", "", now, 12, 12}},
        {"src/cart.py:12-14", {"src/cart.py", "", now, 12, 14}},
        {"src/cart.py:-12", {"src/cart.py", "", before, 12, 12}},
        {"src/cart.py:-12-14", {"src/cart.py", "", before, 12, 14}},
        {"a:b c:7:3", {"a:b c:7", "", now, 3, 3}},
        {"Größe \xF0\x9F\x8D\x8A.md:1", {"Größe \xF0\x9F\x8D\x8A.md", "", now, 1, 1}},
        {"Plan:3", {"", "Plan", now, 3, 3}},
        {"Handoff:3-4", {"", "Handoff", now, 3, 4}},
        {"## Plan:3", {"", "Plan", now, 3, 3}},
        {"## Review notes:3", {"", "Review notes", now, 3, 3}},
        {"./Plan:3", {"Plan", "", now, 3, 3}},
        {"././## x:3", {"## x", "", now, 3, 3}},
        {"plan:3", {"plan", "", now, 3, 3}},
        {"src/Plan:-3", {"src/Plan", "", before, 3, 3}},
    };
    for (const auto& [word, place] : places) {
        INFO(word);
        CHECK(looks_like_place(word));
        const auto found = place_in(word);
        REQUIRE(found);
        CHECK(*found == place);
    }
}

TEST_CASE("A word that names no lines is refused with the reason") {
    for (const char* word : {"",
                             ":",
                             "cart.py",
                             "cart.py:",
                             "cart.py:x",
                             "cart.py:12x",
                             "cart.py:1-2-3",
                             "cart.py:--1",
                             "cart.py:12-",
                             "cart.py:0",
                             "cart.py:14-12",
                             "cart.py:0-3",
                             ":12",
                             "./:12",
                             "/etc/passwd:1",
                             "Plan:-3",
                             "## :3",
                             "cart.py:99999999999999999999",
                             "cart.py:+1",
                             "cart.py: 1"}) {
        INFO(word);
        const auto found = place_in(word);
        REQUIRE_FALSE(found);
        CHECK(found.error().code == ErrorCode::invalid_argument);
    }
}

TEST_CASE("The task stands before the lines, and may be left out") {
    CHECK(begins_with_task({"4f2a", "cart.py:12", "Text"}));
    CHECK(begins_with_task({"box:4f2a", "cart.py:12", "Text"}));
    CHECK(begins_with_task({"box:4711", "cart.py:12", "Text"}));
    CHECK(begins_with_task({"4f2a"}));
    CHECK_FALSE(begins_with_task({"cart.py:12", "Text"}));
    CHECK_FALSE(begins_with_task({"cart.py:12", "as", "in", "tax.py:3"}));
    CHECK_FALSE(begins_with_task({"cart.py:12", "tax.py:3"}));
    CHECK_FALSE(begins_with_task({}));
}
