// Which errors Orange would see in the windows that the programs draw when they are idle.
#include "daemon/agents/news.hpp"

#include "tests/catch.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> missed(const Harness& harness, const std::string& screen, const std::string& title = {}) {
    std::vector<std::string> texts;
    for (const auto& news : news_on(harness, screen, title)) {
        if (!news.is_seen) texts.push_back(news.key + ": " + news.text);
    }
    return texts;
}

Harness prompter() {
    Harness harness;
    harness.prompt.empty = {">"};
    harness.otherwise_idle = true;
    harness.screen.limited = {"API Error:"};
    harness.screen.failed = {"■ "};
    harness.usage_limit.texts = {"You have hit your limit"};
    harness.usage_limit.resets = {"Try again at "};
    return harness;
}

}  // namespace

TEST_CASE("each error that a shipped definition names is seen in the idle windows that were captured") {
    int screens = 0;
    for (const auto& entry : fs::recursive_directory_iterator(ORANGE_SOURCE_DIR "/tests/data/screens")) {
        if (!entry.path().filename().string().starts_with("idle")) continue;
        INFO(entry.path().string());
        const auto text = text_of(entry.path());
        const auto end = text.find('\n');
        const auto harness = shipped(entry.path().parent_path().parent_path().filename().string());
        const auto title = text.substr(sizeof "title:", end - sizeof "title:");
        ++screens;
        const bool is_empty = entry.path().filename() == "idle.txt";
        if (harness.prompt.empty.empty() && !is_empty) continue;  // where its prompt begins is not known
        CHECK(missed(harness, text.substr(end + 1), title) == std::vector<std::string>());
        if (harness.prompt.empty.empty()) continue;
        // A newer version shows the title of the conversation in its last line.
        CHECK(missed(harness, text.substr(end + 1) + "\n  [orange] # Task: API Error: 500\n", title) ==
              std::vector<std::string>());
    }
    CHECK(screens >= 7);
}

TEST_CASE("errors that would be missed are named") {
    const auto harness = prompter();
    CHECK(missed(harness, "Done.\n\n>\n\n  model - [orange] # Task: x\n").empty());
    // The program draws another prompt.
    CHECK(missed(harness, "Done.\n\n[ask]\n\n  status\n").size() == 3);
    // Its title says that it works for ever.
    auto turning = harness;
    turning.titles.busy = {"~"};
    CHECK(missed(turning, "Done.\n\n>\n", "~ x").size() == 3);
}

TEST_CASE("a line is written above the prompt and the edges of its box") {
    const auto harness = prompter();
    const auto shown = with_last_words(harness, "Done.\n\n────\n>\n────\n", "■ refused").value();
    CHECK(shown.find("■ refused") < shown.find("────"));
    CHECK(shown.find("■ refused") > shown.find("Done."));
    CHECK(last_lines(harness, "> [orange] go on\n\nOne.\n\nTwo.\n\n────\n>\n────\n  status\n") == "  One.\n  Two.");
    CHECK_FALSE(with_last_words(harness, "", "x"));
    CHECK(with_last_words(Harness{}, "", "x")->find('x') != std::string::npos);
    CHECK(last_lines(harness, "").empty());
}
