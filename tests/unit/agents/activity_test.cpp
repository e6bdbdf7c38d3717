#include <fstream>
#include <iterator>

#include "daemon/agents/harness.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"
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
        {"claude", "> ", "◐ x", Activity::busy},
        {"claude", "> ", "◑ x", Activity::busy},
        {"claude", "Accessing workspace:\n 1. Yes, I trust this folder", "", Activity::waiting},
        {"claude", "> ", "✳ x", Activity::idle},
        {"codex", "› Ask Codex to do anything", "[ ! ] Action Required | x", Activity::waiting},
        {"codex", "Press enter to confirm or esc to cancel", "⠙ x", Activity::waiting},
        {"codex", "Working (5s • esc to interrupt)", "x", Activity::busy},
        {"codex", "› Ask Codex to do anything", "x", Activity::idle},
        {"opencode", "△ Permission required", "OC | x", Activity::waiting},
        {"opencode", "enter submit  esc dismiss", "OC | x", Activity::waiting},
        {"opencode", "esc interrupt", "OC | x", Activity::busy},
        {"pi", "── ⠋ Working ───", "π - x", Activity::busy},
        {"pi", "⠼ Working...", "π - x", Activity::busy},
        {"pi", "Trust project folder?\n→ Trust", "x", Activity::waiting},
        {"pi", "", "π - x", Activity::unknown},
        {"pi", "> ", "π - x", Activity::idle},
        {"pi", "Retrying (2/3) in 4s... (escape to cancel)", "π - x", Activity::busy},
        {"opencode", "~/x:main", "OC | x", Activity::idle},
        {"gemini", "⠼ Thinking... (esc to cancel, 3s)\n >   Type your message or @path/to/file", "✦  Working… (x)",
         Activity::busy},
        {"gemini", " >   Type your message or @path/to/file", "◇  Ready (x)", Activity::idle},
        {"gemini", "│ Allow execution of: 'make'?\n│ ● 1. Allow once", "✋  Action Required (x)", Activity::waiting},
        {"qwen", "⠼ Thinking (esc to cancel, 3s)", "Qwen - x", Activity::busy},
        {"qwen", "⠼ Waiting for user confirmation...", "Qwen - x", Activity::waiting},
        {"qwen", "*   Type your message or @path/to/file", "Qwen - x", Activity::idle},
        {"qwen", "*   Type your message or @path/to/file", "◐︎ Qwen - x", Activity::busy},
        {"qwen", "*   Type your message or @path/to/file", "✳︎ Qwen - x", Activity::waiting},
        {"copilot", "◎ Working esc esc edit prompt\n❯", "GitHub Copilot", Activity::busy},
        {"copilot", "◎ Working esc esc interrupt\n❯", "GitHub Copilot", Activity::busy},
        {"copilot", "│ Do you want to run this command?\n│ ❯ 1. Yes", "GitHub Copilot", Activity::waiting},
        {"copilot", "❯\n ← open sidebar · Interactive", "GitHub Copilot", Activity::idle},
    };
    for (const auto& row : rows) {
        INFO(row.name << ": " << row.screen << " / " << row.title);
        CHECK(name_of(activity_on(shipped(row.name), row.screen, row.title).activity) == name_of(row.activity));
    }
}

TEST_CASE("the questions of a first start and a missing login are told from work") {
    struct Row {
        const char* name;
        const char* screen;
        const char* title;
        Activity activity;
    };
    // As the programs draw them, without a login, in a repository that is new to them.
    const Row rows[] = {
        {"claude", " Let's get started.\n\n Choose the text style that looks best with your terminal\n ❯ 1. Auto ✔", "",
         Activity::waiting},
        {"claude", " Select login method:\n\n ❯ 1. Claude account with subscription", "", Activity::limited},
        {"claude", " Detected a custom API key in your environment\n   1. Yes\n ❯ 2. No (recommended) ✔", "",
         Activity::waiting},
        {"claude", " WARNING: Claude Code running in Bypass Permissions mode\n ❯ 1. No, exit\n   2. Yes, I accept", "",
         Activity::waiting},
        {"codex", "> 1. Sign in with ChatGPT\n  2. Provide your own API key", "", Activity::limited},
        {"codex", "  Trust this folder?\n› 1. Yes, continue", "x", Activity::waiting},
        {"codex", "Hooks need review\n1 hook is new or changed.", "x", Activity::waiting},
        {"codex", "WARNING: proceeding, even though x.\nContinue anyway? [y/N]: ", "x", Activity::waiting},
        {"pi", "Warning: No models available. Use /login\n> ", "π - x", Activity::limited},
        {"pi", "Error: No API key found for anthropic.\n> ", "π - x", Activity::limited},
        {"opencode", "Incorrect API key provided: x\n ┃", "OC | x", Activity::limited},
        {"opencode", " ┃ Cannot connect to API: Unable to connect. Is the computer able to access the url?\n ┃",
         "OC | x", Activity::limited},
        {"gemini", " │ Do you trust the files in this folder?\n │ ● 1. Trust folder (x)\n │   3. Don't trust\n ╰───╯",
         "◇  Ready (x)", Activity::waiting},
        {"gemini",
         "│   How would you like to authenticate for this project?\n│   ● 1. Sign in with Google\n"
         "│     2. Use Gemini API Key\n│     3. Vertex AI\n│   No authentication method selected.\n"
         "│   (Use Enter to select)\n│   Terms of Services and Privacy Notice for Gemini CLI\n"
         "│   https://geminicli.com/docs/resources/tos-privacy/\n│\n╰───╯",
         "◇  Ready (x)", Activity::limited},
        {"qwen",
         "  │ Select Authentication Method\n  │ › Alibaba ModelStudio\n  │   OAuth\n  │   Custom Provider\n"
         "  │ Terms of Services and Privacy Notice:\n"
         "  │ https://qwenlm.github.io/qwen-code-docs/en/users/support/tos-privacy/\n  │\n  └───┘",
         "Qwen - x", Activity::limited},
        {"copilot",
         "│ Confirm folder trust\n│ Do you trust the files in this folder?\n│ ❯ 1. Yes\n│   3. No (Esc)\n"
         "│ ↑/↓ to navigate · enter to select · esc to cancel\n╰───╯",
         "GitHub Copilot", Activity::waiting},
        {"copilot", "Please use /login to sign in to use Copilot\n /x [⎇ main]\n───\n❯\n───\n", "GitHub Copilot",
         Activity::limited},
        {"amp",
         "No API key found. Starting login flow...\nIf your browser does not open automatically, visit:\n"
         "https://ampcode.com/auth/cli-login?authToken=x\nWhen prompted, paste your code here: ",
         "x", Activity::limited},
        {"amp", "Would you like to log in to Amp? [(y)es, (n)o]: ", "x", Activity::limited},
    };
    for (const auto& row : rows) {
        INFO(row.name << ": " << row.screen);
        const auto seen = reading_of(shipped(row.name), Activity::unknown, row.screen, row.title);
        CHECK(name_of(seen.activity) == name_of(row.activity));
    }
}

TEST_CASE("a program that asks for a login is named, whatever line of its screen was found") {
    for (const auto& [name, screen] : std::initializer_list<std::pair<const char*, const char*>>{
             {"qwen", "│ Terms of Services and Privacy Notice: │"}, {"amp", "When prompted, paste your code here: "}}) {
        const auto reading = reading_of(shipped(name), Activity::unknown, screen, "");
        CHECK(reading.activity == Activity::limited);
        CHECK_THAT(reading.text, Tells(name));
        CHECK_THAT(reading.text, !Holds(screen));
        CHECK(activity_on(shipped(name), screen, "").activity == Activity::waiting);  // no key may be typed there
    }
}

TEST_CASE("a program that was refused and tries again is busy, and says so") {
    const std::pair<const char*, const char*> rows[] = {
        {"claude", "API error · Retrying in 9s · attempt 5/10\nesc to interrupt"},
        {"codex", "Reconnecting... 3/5 (12s • esc to interrupt)"},
        {"opencode", "Rate limit reached [retrying in 5s attempt #2]\nesc interrupt"},
        {"pi", "Retrying (2/3) in 4s... (escape to cancel)"},
    };
    for (const auto& [name, screen] : rows) {
        INFO(name);
        const auto reading = reading_of(shipped(name), Activity::unknown, screen, "");
        CHECK(reading.activity == Activity::busy);
        CHECK_FALSE(reading.retrying.empty());
    }
    CHECK(reading_of(shipped("opencode"), Activity::unknown, "esc interrupt", "").retrying.empty());
    CHECK(reading_of(shipped("claude"), Activity::idle, rows[0].second, "").retrying.empty());
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

namespace {

Reading seen_by(const char* name, Activity file, const std::string& screen, const char* title = "") {
    return reading_of(shipped(name), file, screen, title);
}

}  // namespace

TEST_CASE("a limit at the end of the screen is told from work, and from what has scrolled up") {
    const std::string limit = "⎿ You've hit your session limit · resets 11:36am (UTC)\n";
    const auto reading =
        seen_by("claude", Activity::waiting, "x\n" + limit + "What do you want to do?\nEnter to select\n");
    CHECK(reading.activity == Activity::limited);
    CHECK(reading.text == "⎿ You've hit your session limit · resets 11:36am (UTC)");
    CHECK(seen_by("claude", Activity::idle, limit).activity == Activity::limited);
    CHECK(seen_by("claude", Activity::busy, limit).activity == Activity::busy);
    std::string below;
    for (int i = 0; i < 12; ++i) below += "line\n\n";
    CHECK(seen_by("claude", Activity::idle, limit + below).activity == Activity::idle);
    CHECK(seen_by("claude", Activity::idle, "You've used 90% of your limit\n").activity == Activity::idle);
    CHECK(seen_by("claude", Activity::unknown, "Please run /login · API Error: 401\n", "✳ x").activity ==
          Activity::limited);
    CHECK(seen_by("codex", Activity::unknown, "■ You’ve hit your usage limit. Visit x or try again at 11:37 AM.\n", "x")
              .activity == Activity::limited);
    CHECK(seen_by("codex", Activity::unknown, "■ exceeded retry limit\n", "⠙ x").activity == Activity::busy);
    CHECK(seen_by("pi", Activity::unknown, "Error: Retry failed after 3 attempts: 429 x\n").activity ==
          Activity::limited);
    const std::string login = "Error: 401 Incorrect API key\n";
    CHECK(seen_by("pi", Activity::unknown, login + "[orange] go on\n Done.\n").activity == Activity::idle);
    CHECK(seen_by("pi", Activity::unknown, "[orange] go on\n" + login).activity == Activity::limited);
    CHECK(seen_by("pi", Activity::unknown, "").activity == Activity::unknown);
}

TEST_CASE("a usage limit is told from a missing login, and has the time of its reset, over broken lines too") {
    const auto claude = seen_by("claude", Activity::waiting,
                                "⎿ You've hit your session limit · resets 11:36am (UTC)\nWhat do you want to do?\n");
    CHECK(claude.usage_limit);
    CHECK_THAT(claude.resets, Holds("11:36am (UTC)") && !Holds("resets"));
    const std::string codex =
        "■ You’ve hit your usage limit. Upgrade to Pro (https://x), visit https://y to purchase\n"
        "  more credits or try again\n  at Nov 25th, 2026 9:37 AM.\n";
    CHECK(seen_by("codex", Activity::unknown, codex, "x").usage_limit);
    CHECK_THAT(seen_by("codex", Activity::unknown, codex, "x").resets, Holds("Nov 25th, 2026 9:37 AM."));
    const auto spent = seen_by("claude", Activity::idle, "You've hit your monthly spend limit.\n");
    CHECK(spent.usage_limit);
    CHECK(spent.resets.empty());
    for (const auto* text : {"Please run /login · API Error: 401\n", "Credit balance too low · Add funds\n"}) {
        CHECK(seen_by("claude", Activity::idle, text).activity == Activity::limited);
        CHECK_FALSE(seen_by("claude", Activity::idle, text).usage_limit);
    }
    CHECK(shows_limit_dialog(shipped("claude"), "x\nWhat do you want to do?\n❯ 1. Stop and wait\n"));
    CHECK_FALSE(shows_limit_dialog(shipped("claude"), "You've hit your session limit\n❯\n"));
}

TEST_CASE("a screen that only counts, turns and says that it works shows no progress") {
    const auto claude = shipped("claude");
    const auto before = progress_on(claude, "● Reading a.cpp\n✻ Pondering… (12s · esc to interrupt)\n────\n❯ \n");
    CHECK(before == progress_on(claude, "● Reading a.cpp\n✶ Brewing… (9m 13s · esc to interrupt)\n────\n❯ \n"));
    CHECK(before != progress_on(claude, "● Reading b.cpp\n✶ Brewing… (9m 13s · esc to interrupt)\n────\n❯ \n"));
    const auto waits = progress_on(claude, "● Bash(ls)\n✢ Imagining… (1m 5s · ↑ 143 tokens)\n❯\n· esc to interrupt\n");
    for (const std::string spinner : {"·", "*", "✻"}) {
        const auto later = spinner + " Imagining… (2m 8s · ↑ 143 tokens)\n❯\n· esc to interrupt\n";
        CHECK(waits == progress_on(claude, "● Bash(ls)\n" + later));
    }
    CHECK(progress_on(claude, "読む") != progress_on(claude, "書く"));
    const auto qwen = shipped("qwen");  // its phrases change, and a narrow window breaks them
    CHECK(progress_on(qwen, "⠼ Counting electrons... (44s · esc to cancel)\n*\n") ==
          progress_on(qwen, "⠇ I've seen things you people wouldn't\n  (1m · esc to cancel)\n*\n"));
}

TEST_CASE("a message is seen on the screen also where the program draws its Markdown") {
    CHECK(agents::shows_text("● Say hi to id, in bold, and\n  go on\n", "Say hi to `id`, in **bold**, and go on"));
    CHECK(agents::shows_text("> ###\n", "###"));
    CHECK_FALSE(agents::shows_text("> something else\n", "Say hi to `id`"));
    CHECK_FALSE(agents::shows_text("> abc\n", "!!!"));
}
