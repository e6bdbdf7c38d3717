#include <fstream>
#include <iterator>

#include "daemon/agents/harness.hpp"
#include "tests/catch.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;

TEST_CASE("what the programs show is told apart") {
    struct Row {
        const char* name;
        const char* screen;
        const char* title;
        Activity activity;
    };
    const Row rows[] = {
        {"claude", "Do you want to proceed?\n❯ 1. Yes", "✳ x", Activity::waiting},
        {"claude", "· Thinking… (esc to interrupt)", "⠂ x", Activity::busy},
        {"claude", "> ", "⠐ x", Activity::busy},
        {"claude", "Accessing workspace:\n 1. Yes, I trust this folder", "", Activity::waiting},
        {"claude", "> ", "✳ x", Activity::unknown},
        {"codex", "› Ask Codex to do anything", "[ ! ] Action Required | x", Activity::waiting},
        {"codex", "Press enter to confirm or esc to cancel", "⠙ x", Activity::waiting},
        {"codex", "Working (5s • esc to interrupt)", "x", Activity::busy},
        {"codex", "› Ask Codex to do anything", "x", Activity::unknown},
        {"opencode", "△ Permission required", "OC | x", Activity::waiting},
        {"opencode", "enter submit  esc dismiss", "OC | x", Activity::waiting},
        {"opencode", "esc interrupt", "OC | x", Activity::busy},
        {"pi", "Working...", "π - x", Activity::busy},
        {"pi", "", "π - x", Activity::unknown},
    };
    for (const auto& row : rows) {
        INFO(row.name << ": " << row.screen << " / " << row.title);
        CHECK(name_of(activity_on(shipped(row.name), row.screen, row.title)) == name_of(row.activity));
    }
}

TEST_CASE("a state file says one of its words, or nothing is known") {
    const auto file = shipped("claude").state_file;
    CHECK(activity_in(file, R"({"status":"idle"})") == Activity::idle);
    CHECK(activity_in(file, R"({"status":"busy","x":1})") == Activity::busy);
    CHECK(activity_in(file, R"({"status":"waiting","waitingFor":"permission prompt"})") == Activity::waiting);
    for (const char* odd : {"", "{", "[]", "{}", R"({"status":1})", R"({"status":"dreaming"})", "\xFF"}) {
        INFO(odd);
        CHECK(activity_in(file, odd) == Activity::unknown);
    }
    CHECK(below_home("~/x", "/home/u") == "/home/u/x");
    CHECK(below_home("/x", "/home/u") == "/x");
}
