// Captured windows of the programs: tests/data/screens/<program>/<version>/<activity>-<what>.txt, the window's title
// first.
#include "tests/catch.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;
namespace fs = std::filesystem;

TEST_CASE("the screens that were captured are understood by the shipped definitions") {
    constexpr std::string_view k_title = "title: ";
    std::map<std::string, int> seen;
    for (const auto& entry : fs::recursive_directory_iterator(ORANGE_SOURCE_DIR "/tests/data/screens")) {
        if (entry.path().extension() != ".txt" || entry.path().parent_path().filename() == "prompts") continue;
        INFO(entry.path().string());
        const auto harness = shipped(entry.path().parent_path().parent_path().filename().string());
        const auto text = text_of(entry.path());
        REQUIRE(text.starts_with(k_title));
        const auto end = text.find('\n');
        const auto title = text.substr(k_title.size(), end - k_title.size());
        const auto reading = reading_of(harness, Activity::unknown, text.substr(end + 1), title);
        const auto name = entry.path().filename().string();
        CHECK(name_of(reading.activity) == name.substr(0, name.find_first_of("-.")));
        ++seen[harness.name];
    }
    for (const char* name : {"claude", "codex", "copilot", "gemini", "opencode", "pi", "qwen"}) {
        INFO(name);
        CHECK(seen[name] >= 2);
    }
}

TEST_CASE("claude shows a prompt after a refused message, so that it can be told to go on") {
    for (const char* name : {"limited-401.txt", "limited-429.txt", "limited-usage.txt"}) {
        INFO(name);
        const auto text = text_of(fs::path(ORANGE_SOURCE_DIR "/tests/data/screens/claude/2.1.332") / name);
        CHECK(prompt_on(shipped("claude"), text).state != Prompt::State::absent);
    }
}
