// Lines that the programs wrote: tests/data/events/<program>/<version>.txt, each behind the activity that it means. The
// plugin of opencode gets the events of plugin-<version>.jsonl; behind ">" is what it tells.
#include <fstream>

#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/process/environment.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

const fs::path k_captured = ORANGE_SOURCE_DIR "/tests/data/events";

/// Calls the plugin's hook for each line of its input.
constexpr std::string_view k_driver = R"(
import { readFileSync } from "node:fs";
import { OrangeEvents } from "./plugin.mjs";
const hooks = await OrangeEvents();
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) await hooks.event({ event: JSON.parse(line) });
const config = {};
await hooks.config(config);
console.log(JSON.stringify(config));
)";

std::string installed_node() {
    for (const char* place : {"/usr/bin/node", "/usr/bin/nodejs"}) {
        if (fs::exists(place)) return place;
    }
    FAIL("node is not installed, but scripts/test installs it");
    return {};
}

}  // namespace

TEST_CASE("the events that were captured are understood by the shipped definitions") {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(k_captured)) {
        if (entry.path().extension() != ".txt") continue;
        ++files;
        const auto harness = shipped(entry.path().parent_path().filename().string());
        const auto text = text_of(entry.path());
        for (const auto line : split_lines(text)) {
            INFO(harness.name << ": " << line);
            const auto space = line.find(' ');
            const auto told = told_by(harness, line.substr(space + 1));
            CHECK((told ? name_of(told->activity) : "none") == line.substr(0, space));
        }
    }
    CHECK(files >= 3);
}

TEST_CASE("the plugin of opencode tells turns, questions and errors, and nothing of sub-agents' turns") {
    TempDir dir;
    fs::copy_file(ORANGE_SOURCE_DIR "/harnesses/opencode-events.js", dir / "plugin.mjs");
    std::ofstream(dir / "driver.mjs") << k_driver;
    std::string input, expected;
    const auto captured = text_of(k_captured / "opencode/plugin-1.18.33.jsonl");
    for (const auto line : split_lines(captured))
        (line.starts_with("> ") ? expected : input) += std::string(line) + "\n";
    Command command;
    command.argv = {installed_node(), (dir / "driver.mjs").string()};
    command.env = {{"ORANGE_EVENTS", (dir / "events").string()}, {"OPENCODE_BUILD_VARIANT", "high"}};
    command.input = input;
    asio::io_context io;
    PosixProcessRunner runner;
    const auto done = run(io, runner.run(std::move(command)));
    REQUIRE(done);
    INFO(done->err);
    CHECK(Json::parse(done->out).at("agent").at("build").at("variant") == "high");
    std::string told;
    const auto events = text_of(dir / "events");
    for (const auto line : split_lines(events)) {
        const auto event = Json::parse(line);
        told += "> " + event.at("event").get<std::string>();
        if (event.contains("text")) told += " " + event.at("text").get<std::string>();
        told += "\n";
    }
    CHECK(told == expected);
}
