#include "daemon/agents/prompt.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"

/// Where a program takes text, and what stands there.
using namespace orange;
using namespace orange::agents;

namespace {

Harness with(std::vector<std::string> above, std::vector<std::string> empty, std::vector<std::string> below) {
    Harness made;
    made.prompt = {std::move(above), std::move(empty), std::move(below), {}};
    return made;
}

/// A prompt between two rules, with a status line that belongs to it.
Harness ruled() {
    return with({"─"}, {"❯"}, {"─", "? for shortcuts"});
}

/// A prompt that is a blank line.
Harness blank() {
    return with({"─"}, {""}, {"─", "(main)"});
}

Harness boxed() {
    return with({"╭"}, {"│ > │", "│ > Type your message │"}, {"╰", "no sandbox"});
}

std::string state(const Harness& harness, const std::string& screen) {
    const auto prompt = prompt_on(harness, screen);
    return prompt.state == Prompt::State::empty    ? "empty"
           : prompt.state == Prompt::State::absent ? "absent"
                                                   : "filled: " + prompt.text;
}

const std::string k_rule = "────────────\n";

}  // namespace

TEST_CASE("a prompt is empty, holds text, or is covered by what stands below it") {
    const auto claude = ruled();
    CHECK(state(claude, "● Done.\n\n" + k_rule + "❯ \n" + k_rule + "  ? for shortcuts\n\n") == "empty");
    CHECK(state(claude, k_rule + "❯\u00a0\n" + k_rule) == "empty");
    CHECK(state(claude, k_rule + "❯ rm -rf build/\n" + k_rule + "  ? for shortcuts\n") == "filled: rm-rfbuild/");
    CHECK(state(claude, k_rule + "❯ one\n  two\n\n  three\n" + k_rule) == "filled: onetwothree");
    CHECK(state(claude, k_rule + "❯ /per\n" + k_rule + "  /permissions  Choose them\n").starts_with("filled"));
    // A menu in place of the prompt, above it, or below an empty one.
    CHECK(state(claude, "Choose\n❯ 1. Ask\n  2. Never ask\n\nenter select\n") == "absent");
    CHECK(state(claude, k_rule + "❯ \n" + k_rule + "  1. Ask\n❯ 2. Never\n") != "empty");
    CHECK(state(claude, k_rule + "❯ \n" + k_rule + "  something else\n") != "empty");
    // A turn above that looks like a prompt is none.
    CHECK(state(claude, k_rule + "❯ \n● I answer.\n" + k_rule + "❯ a draft\n" + k_rule) == "filled: adraft");
    CHECK(state(claude, "❯ \n") == "absent");
    CHECK(state(claude, "") == "absent");
    CHECK(state(Harness{}, k_rule + "❯ \n" + k_rule) == "absent");
}

TEST_CASE("a dimmed suggestion is no text, and the same text without the attribute is") {
    const auto claude = ruled();
    CHECK(state(claude, k_rule + "❯ \x1b[2mrun the tests\x1b[0m\n" + k_rule) == "empty");
    CHECK(state(claude, k_rule + "\x1b[38;5;4m❯\x1b[39m \x1b[0;2mrun the tests\x1b[22m\n" + k_rule) == "empty");
    CHECK(state(claude, k_rule + "❯ \x1b[90mrun the tests\x1b[39m\n" + k_rule) == "empty");
    CHECK(state(claude, k_rule + "❯ run the tests\n" + k_rule) == "filled: runthetests");
    CHECK(state(claude, k_rule + "❯ \x1b[1mrun\x1b[0m\x1b[2m the tests\x1b[0m\n" + k_rule) == "filled: run");
    // 2 as a part of a colour is not faint.
    CHECK(state(claude, k_rule + "❯ \x1b[38;2;250;250;250mrun\x1b[0m\n" + k_rule) == "filled: run");
    CHECK(state(claude, k_rule + "❯ \x1b[48;5;2mrun\x1b[0m\n" + k_rule) == "filled: run");
    CHECK(state(claude, k_rule + "❯ \x1b]8;;http://x\x1b\\run\x1b]8;;\x1b\\\n" + k_rule) == "filled: run");
    CHECK(state(claude, k_rule + "❯ a\x1b[2") == "filled: a");
}

TEST_CASE("the sign may be dimmed, and a cursor that the program draws belongs to what stands behind it") {
    const auto claude = ruled();
    CHECK(state(claude, k_rule + "\x1b[2m❯\x1b[0m \n" + k_rule) == "empty");
    CHECK(state(claude, k_rule + "\x1b[90m❯\x1b[39m half\n" + k_rule) == "filled: half");
    CHECK(state(claude, k_rule + "❯ \x1b[7mr\x1b[0;2mun the tests\x1b[0m\n" + k_rule) == "empty");
    CHECK(state(claude, k_rule + "❯ \x1b[7mü\x1b[0;2mber\x1b[0m\n" + k_rule) == "empty");
    CHECK(state(claude, k_rule + "❯ \x1b[7m \x1b[0m\n" + k_rule) == "empty");
    CHECK(state(claude, k_rule + "❯ \x1b[7mh\x1b[0malf\n" + k_rule) == "filled: half");
    CHECK(state(claude, k_rule + "❯ \x1b[7mx\x1b[0m\n" + k_rule) == "filled: x");
    CHECK(state(claude, k_rule + "❯ \x1b[7mchosen\x1b[0;2m text\x1b[0m\n" + k_rule) == "filled: chosen");
    // Attributes last over the end of a line.
    CHECK(state(claude, "\x1b[2m" + k_rule + "❯ suggestion\n" + k_rule) == "empty");
}

TEST_CASE("an empty prompt reads keys only where the cursor is") {
    const auto claude = ruled();
    const auto at = [&](std::size_t cursor) {
        return prompt_on(claude, k_rule + "❯ \n" + k_rule + "? for shortcuts\n\n", cursor).state;
    };
    CHECK(at(1) == Prompt::State::empty);
    CHECK(at(0) == Prompt::State::absent);
    CHECK(at(3) == Prompt::State::absent);
    CHECK(at(4) == Prompt::State::empty);  // the program hides its cursor
    const auto plain = with({}, {">"}, {});
    CHECK(prompt_on(plain, "text\n>\n\n\n", 2).state == Prompt::State::empty);  // it reads in the line below
    CHECK(prompt_on(plain, "text\n>\n\n\n", 0).state == Prompt::State::absent);
}

TEST_CASE("a prompt without a sign is the line between its neighbours") {
    const auto pi = blank();
    CHECK(state(pi, "a turn\n\n" + k_rule + "\n" + k_rule + "~/shop (main)\n") == "empty");
    CHECK(state(pi, k_rule + "half a line\n" + k_rule + "~/shop (main)\n") == "filled: halfaline");
    CHECK(state(pi, k_rule + "one\n\ntwo\n" + k_rule + "~/shop (main)\n") == "filled: onetwo");
    CHECK(state(pi, k_rule + "> choose\n  one\n  two\n" + k_rule + "enter select\n").starts_with("filled"));
    CHECK(state(pi, "a turn\n\n\n") == "absent");
}

TEST_CASE("a prompt in a box is read without its edges") {
    const auto gemini = boxed();
    const std::string top = "╭──────────────────╮\n", bottom = "╰──────────────────╯\n~/shop  no sandbox\n";
    CHECK(state(gemini, top + "│ >                │\n" + bottom) == "empty");
    CHECK(state(gemini, top + "│ > Type your message │\n" + bottom) == "empty");
    CHECK(state(gemini, top + "│ > look at this   │\n│   and that       │\n" + bottom) == "filled: lookatthisandthat");
}

TEST_CASE("a pasted text stands in the prompt alone, beside other text, or not at all") {
    const auto claude = ruled();
    const std::string text = "[orange] The review failed. Read ## Review in TASK.md.";
    const auto pasted = [&](const std::string& prompt) { return pasted_in(claude, k_rule + prompt + k_rule, text); };
    CHECK(pasted("❯ " + text + "\n") == Pasted::alone);
    CHECK(pasted("❯ [orange] The review fai\n  led. Read ## Review\n  in TASK.md.\n") == Pasted::alone);
    CHECK(pasted("❯ [Pasted text #1 +3 lines]\n") == Pasted::gone);  // it may be a person's
    CHECK(pasted("❯ [Pasted text #1] and [Pasted text #2]\n") == Pasted::gone);
    CHECK(pasted("❯ rm -rf x[Pasted text #1]\n") == Pasted::gone);
    CHECK(pasted("❯ never touch the folder " + text + "\n") == Pasted::beside);
    CHECK(pasted("❯ " + text + " and more\n") == Pasted::beside);
    CHECK(pasted("❯ [orange] The review fai\n") == Pasted::beside);
    CHECK(pasted("❯ [o\n") == Pasted::gone);
    CHECK(pasted("❯ \n") == Pasted::gone);
    CHECK(pasted("❯ \x1b[2m" + text + "\x1b[0m\n") == Pasted::gone);
    CHECK(pasted_in(claude, text, text) == Pasted::gone);
    // It may have the words of a status line.
    const std::string odd = "[orange] Type ? for shortcuts, or look at the ─ signs.";
    const std::string whole = k_rule + "❯ " + odd + "\n" + k_rule;
    CHECK(pasted_in(claude, whole, odd) == Pasted::alone);
    CHECK(pasted_in(claude, k_rule + "❯ [orange] Type\n  ? for shortcuts, or look at the ─ signs.\n" + k_rule, odd) ==
          Pasted::alone);
    CHECK(state(claude, whole).starts_with("filled"));
}

// Screens of the real programs, with their escapes (tests/data/screens/prompts). The name says what they show:
// <program>-<version>-<empty|filled|absent>-<what>.txt. The first two lines are the title and the cursor's place.
TEST_CASE("the prompts of the real programs are read as what they show") {
    int screens = 0, pastes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(ORANGE_SOURCE_DIR "/tests/data/screens/prompts")) {
        const auto name = entry.path().stem().string();
        const auto parts = split(name, '-');
        if (parts.size() < 4 || entry.path().extension() != ".txt") continue;
        const auto text = test::read_file(entry.path());
        const auto second = text.find('\n') + 1, third = text.find('\n', second) + 1;
        const auto comma = text.find(',', second);
        const auto cursor = static_cast<std::size_t>(std::stoul(text.substr(comma + 1)));
        const auto file = std::string(parts[0]) + ".yml";
        const auto harness = load_harness(test::read_file(ORANGE_SOURCE_DIR "/harnesses/" + file), file).value();
        const auto prompt = prompt_on(harness, std::string_view(text).substr(third), cursor);
        const std::string_view shown = prompt.state == Prompt::State::empty    ? "empty"
                                       : prompt.state == Prompt::State::absent ? "absent"
                                                                               : "filled";
        INFO(name << ": " << prompt.text);
        ++screens;
        if (harness.inbox) {
            CHECK_FALSE(names_prompt(harness));  // nothing is typed
        } else if (parts[2] == "absent") {
            CHECK(prompt.state != Prompt::State::empty);  // a menu may begin with the same sign
        } else {
            CHECK(shown == parts[2]);
        }
        if (!harness.inbox && name.ends_with("-paste-short")) {  // Enter may follow
            CHECK(pasted_in(harness, std::string_view(text).substr(third), "[orange] a short line.") == Pasted::alone);
            ++pastes;
        }
    }
    CHECK(screens > 100);
    CHECK(pastes == 6);
}
