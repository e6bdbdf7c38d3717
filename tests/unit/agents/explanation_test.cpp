#include "daemon/agents/explanation.hpp"

#include "tests/catch.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;

namespace {

Harness defined(const std::string& signs) {
    auto harness = load_harness("name: x\nprogram: x\nargv: {full: [--, \"{prompt}\"]}\n" + signs, "x.yml");
    REQUIRE(harness);
    return *harness;
}

/// "key: text" of what decides; and of everything that was found, in `found`.
std::vector<std::string> deciding(const Harness& harness, const std::string& screen, const std::string& title,
                                  std::vector<std::string>* found = nullptr) {
    std::vector<std::string> keys;
    for (const auto& each : looked_for(harness, screen, title, reading_of(harness, Activity::unknown, screen, title))) {
        const auto name = each.key + ": " + each.text;
        if (each.decides) keys.push_back(name);
        if (found && !each.line.empty()) found->push_back(name + " in " + each.line);
    }
    return keys;
}

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("what decides is the text from which the activity follows") {
    const auto harness = defined(
        "title: {busy: [\"◐\", \"◑\"]}\nscreen: {waiting: [\"Proceed?\", \"Really?\"], busy: [esc to stop], limited: "
        "[No credit], "
        "login: [Sign in], otherwise: idle}\nusage_limit: {screen: [Limit reached]}\n");
    CHECK(deciding(harness, "a\n│ Really? │\nesc to stop", "◐ x") == Keys{"screen.waiting: Really?"});
    CHECK(deciding(harness, "working", "◑ x") == Keys{"title.busy: ◑"});
    CHECK(deciding(harness, "x (esc to stop)", "x") == Keys{"screen.busy: esc to stop"});
    CHECK(deciding(harness, "No credit left", "x") == Keys{"screen.limited: No credit"});
    CHECK(deciding(harness, "> Sign in\n", "x") == Keys{"screen.login: Sign in"});
    CHECK(deciding(harness, "Limit reached", "x") == Keys{"usage_limit.screen: Limit reached"});
    CHECK(deciding(harness, "> ", "x") == Keys{"screen.otherwise: idle"});
    CHECK(deciding(harness, "", "x").empty());
}

TEST_CASE("every text is listed, with the line that has it") {
    const auto harness =
        defined("title: {idle: [\"✳\"]}\nscreen: {busy: [esc], waiting: [\"Proceed?\"], composer_empty: [\"❯\"]}\n");
    Keys found;
    CHECK(deciding(harness, "Proceed? no\n  esc to stop\n❯\n", "✳ x", &found) == Keys{"screen.waiting: Proceed?"});
    CHECK(found == Keys{"screen.waiting: Proceed? in Proceed? no", "screen.busy: esc in esc to stop",
                        "title.idle: ✳ in ✳ x", "prompt.empty: ❯ in ❯"});
    const auto all = looked_for(harness, "", "", Reading{});
    CHECK(all.size() == 4);
}

TEST_CASE("another source decides, whatever is on the screen") {
    const auto harness = defined("screen: {busy: [esc]}\n");
    const auto all = looked_for(harness, "esc", "", Reading{Activity::idle, "file", {}});
    REQUIRE(all.size() == 2);
    CHECK(all[0].key == "file");
    CHECK(all[0].decides);
    CHECK_FALSE(all[1].decides);
}
