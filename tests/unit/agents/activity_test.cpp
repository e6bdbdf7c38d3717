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
        {"claude", "> ", "✳ x", Activity::idle},
        {"codex", "› Ask Codex to do anything", "[ ! ] Action Required | x", Activity::waiting},
        {"codex", "Press enter to confirm or esc to cancel", "⠙ x", Activity::waiting},
        {"codex", "Working (5s • esc to interrupt)", "x", Activity::busy},
        {"codex", "› Ask Codex to do anything", "x", Activity::idle},
        {"opencode", "△ Permission required", "OC | x", Activity::waiting},
        {"opencode", "enter submit  esc dismiss", "OC | x", Activity::waiting},
        {"opencode", "esc interrupt", "OC | x", Activity::busy},
        {"pi", "Working...", "π - x", Activity::busy},
        {"pi", "", "π - x", Activity::unknown},
        {"pi", "> ", "π - x", Activity::idle},
        {"pi", "Retrying (2/3) in 4s... (escape to cancel)", "π - x", Activity::busy},
        {"opencode", "~/x:main", "OC | x", Activity::idle},
    };
    for (const auto& row : rows) {
        INFO(row.name << ": " << row.screen << " / " << row.title);
        CHECK(name_of(activity_on(shipped(row.name), row.screen, row.title).activity) == name_of(row.activity));
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

TEST_CASE("a limit at the end of the screen is told from work, and from what has scrolled up") {
    const auto read = [](const char* name, Activity file, const std::string& screen, const char* title = "") {
        return reading_of(shipped(name), file, screen, title);
    };
    const std::string limit = "⎿ You've hit your session limit · resets 11:36am (UTC)\n";
    const auto reading =
        read("claude", Activity::waiting, "x\n" + limit + "What do you want to do?\nEnter to select\n");
    CHECK(reading.activity == Activity::limited);
    CHECK(reading.text == "⎿ You've hit your session limit · resets 11:36am (UTC)");
    CHECK(read("claude", Activity::idle, limit).activity == Activity::limited);
    CHECK(read("claude", Activity::busy, limit).activity == Activity::busy);
    std::string below;
    for (int i = 0; i < 12; ++i) below += "line\n\n";
    CHECK(read("claude", Activity::idle, limit + below).activity == Activity::idle);
    CHECK(read("claude", Activity::idle, "You've used 90% of your limit\n").activity == Activity::idle);
    CHECK(read("claude", Activity::unknown, "Please run /login · API Error: 401\n", "✳ x").activity ==
          Activity::limited);
    CHECK(read("codex", Activity::unknown, "■ You’ve hit your usage limit. Visit x or try again at 11:37 AM.\n", "x")
              .activity == Activity::limited);
    CHECK(read("codex", Activity::unknown, "■ exceeded retry limit\n", "⠙ x").activity == Activity::busy);
    CHECK(read("pi", Activity::unknown, "Error: Retry failed after 3 attempts: 429 x\n").activity == Activity::limited);
    const std::string login = "Error: 401 Incorrect API key\n";
    CHECK(read("pi", Activity::unknown, login + "[orange] go on\n Done.\n").activity == Activity::idle);
    CHECK(read("pi", Activity::unknown, "[orange] go on\n" + login).activity == Activity::limited);
    CHECK(read("pi", Activity::unknown, "").activity == Activity::unknown);
}

TEST_CASE("a screen that only counts, turns and says that it works shows no progress") {
    const auto claude = shipped("claude");
    const auto before = progress_on(claude, "● Reading a.cpp\n✻ Pondering… (12s · esc to interrupt)\n────\n❯ \n");
    CHECK(before == progress_on(claude, "● Reading a.cpp\n✶ Brewing… (9m 13s · esc to interrupt)\n────\n❯ \n"));
    CHECK(before != progress_on(claude, "● Reading b.cpp\n✶ Brewing… (9m 13s · esc to interrupt)\n────\n❯ \n"));
    CHECK(progress_on(claude, "読む") != progress_on(claude, "書く"));
}

TEST_CASE("a message that stands in the prompt line was not sent") {
    const auto claude = shipped("claude");
    const std::string said = "[orange] The human says: y.";
    CHECK(composer_holds(claude, "● Done.\n────\n❯ " + said + "\n────\n", said));
    CHECK(composer_holds(claude, "❯\u00a0[orange] The human\n  says: y.\n────\n", said));
    CHECK_FALSE(composer_holds(claude, "❯ " + said + "\n● I will.\n────\n❯ \n────\n", said));
    CHECK_FALSE(composer_holds(claude, "❯ what a person writes\n", said));
    CHECK_FALSE(composer_holds(claude, said, said));
}

TEST_CASE("a message that ends at the cursor was not sent, also in a box and broken into lines") {
    const std::string said = "[orange] The human says: say hi to `id`, in **bold**.";
    CHECK(stands_at_cursor("● Done.\n┃  " + said, said));
    CHECK(stands_at_cursor("┃ [orange] The human says: say hi  ┃\n┃ to `id`, in **bold**.", said));
    CHECK(stands_at_cursor("> 完了しました。", "[orange] 完了しました。"));
    CHECK_FALSE(stands_at_cursor("> " + said + "\n────────\n┃ ", said));  // a turn, and an empty prompt
    CHECK_FALSE(stands_at_cursor("> " + said + "\nAsk anything", said));
    CHECK_FALSE(stands_at_cursor("", said));
    CHECK_FALSE(stands_at_cursor("> !!!", "!!!"));
}

TEST_CASE("a message is seen on the screen also where the program draws its Markdown") {
    CHECK(agents::shows_text("● Say hi to id, in bold, and\n  go on\n", "Say hi to `id`, in **bold**, and go on"));
    CHECK(agents::shows_text("> ###\n", "###"));
    CHECK_FALSE(agents::shows_text("> something else\n", "Say hi to `id`"));
    CHECK_FALSE(agents::shows_text("> abc\n", "!!!"));
}
