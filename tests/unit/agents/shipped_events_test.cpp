// Lines that the programs wrote: tests/data/events/<program>/<version>.txt, each behind the activity that it means. The
// plugin of opencode gets the events of plugin-<version>.jsonl; behind ">" is what it tells.
#include <fstream>

#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/files/posix_file_system.hpp"
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

/// Lets opencode ask four times. The window answers the last one, whose program waits.
constexpr std::string_view k_driver_of_asking = R"(
import { existsSync } from "node:fs";
import { OrangeEvents } from "./plugin.mjs";
const posts = [];
const client = { _client: { post: async (call) => posts.push(call) } };
const hooks = await OrangeEvents({ client, directory: "/home/ada/shop" });
const say = (type, properties) => hooks.event({ event: { type, properties: { sessionID: "ses_1", ...properties } } });
const until = async (done) => {
    while (!done()) await new Promise((next) => setTimeout(next, 10));
};
const ask = (id, more) => say("permission.asked", { id, permission: "bash", patterns: ["touch " + id], ...more });
const reply = (requestID, reply) => say("permission.replied", { requestID, reply });
await say("session.status", { status: { type: "busy" } });
await ask("allow", { metadata: { command: "touch allow" } });
await until(() => posts.length === 1);
await reply("allow", "once");
await ask("deny", { permission: "external_directory", metadata: { filepath: "/x" } });
await until(() => posts.length === 2);
await reply("deny", "reject");
await ask("nothing");
await ask("window");
await until(() => existsSync(process.env.ASKED + "/nothing.over") && existsSync(process.env.ASKED + "/window"));
await reply("window", "always");
await until(() => existsSync(process.env.ASKED + "/window.over"));
console.log(JSON.stringify(posts));
)";

/// Stands in for `orange-agent --ask`: keeps what it is asked, and answers as its id says.
constexpr std::string_view k_asked = R"sh(#!/bin/sh
read -r asked
id=$(printf '%s' "$asked" | sed 's/.*"id":"\([a-z]*\)".*/\1/')
trap 'touch "$ASKED/$id.over"; kill "$!"; exit' TERM
printf '%s' "$asked" >"$ASKED/$id.new" && mv "$ASKED/$id.new" "$ASKED/$id"
case $id in
    allow) echo '{"reply":"once"}' ;;
    deny) echo '{"reply":"reject","message":"No."}' ;;
    nothing) touch "$ASKED/nothing.over" ;;
    window) sleep 60 & wait ;;
esac
)sh";

/// Lets the extension begin three conversations of pi, of which one has no file.
constexpr std::string_view k_driver_of_pi = R"(
import extension from "./extension.mjs";
const hooks = {};
extension({ on: (name, hook) => (hooks[name] = hook), sendUserMessage: () => {} });
for (const file of ["/t/run/talk/one.jsonl", undefined, "/t/run/talk/two.jsonl"]) {
    await hooks.session_start({}, { isIdle: () => false, sessionManager: { getSessionFile: () => file } });
    await hooks.session_shutdown();
}
await hooks.session_start({}, { isIdle: () => false });
await hooks.agent_start();
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

TEST_CASE("the plugin of opencode tells turns, questions and errors, nothing of sub-agents' turns, and all tokens") {
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
        auto event = Json::parse(line);
        told += "> " + event.at("event").get<std::string>();
        if (event.at("event") == "usage") {
            event.erase("event");
            told += " " + event.dump();
        }
        if (event.contains("text")) told += " " + event.at("text").get<std::string>();
        told += "\n";
    }
    CHECK(told == expected);
}

TEST_CASE("the plugin of opencode asks Orange, passes its answer on, and ends the question that the window answered") {
    TempDir dir;
    fs::copy_file(ORANGE_SOURCE_DIR "/harnesses/opencode-events.js", dir / "plugin.mjs");
    std::ofstream(dir / "driver.mjs") << k_driver_of_asking;
    std::ofstream(dir / "ask") << k_asked;
    Command command;
    command.argv = {installed_node(), (dir / "driver.mjs").string()};
    command.env = {{"ORANGE_EVENTS", (dir / "events").string()},
                   {"ORANGE_ASK", "sh " + (dir / "ask").string()},
                   {"ASKED", (dir / "events").parent_path().string()},
                   {"PATH", "/usr/bin:/bin"}};
    command.input = "";
    asio::io_context io;
    PosixProcessRunner runner;
    const auto done = run(io, runner.run(std::move(command)));
    REQUIRE(done);
    INFO(done->err << done->out);
    const auto posts = Json::parse(done->out);
    REQUIRE(posts.size() == 2);
    const auto opencode = shipped("opencode");
    CHECK(posts[0].at("url") == "/permission/{requestID}/reply");
    CHECK(posts[0].at("path").at("requestID") == "allow");
    CHECK(posts[0].at("query").at("directory") == "/home/ada/shop");
    CHECK(posts[0].at("body") == Json::parse(opencode.permits.allow));
    CHECK(posts[1].at("path").at("requestID") == "deny");
    CHECK(posts[1].at("body") == Json{{"reply", "reject"}, {"message", "No."}});
    const auto allow = Json::parse(text_of(dir / "allow")), deny = Json::parse(text_of(dir / "deny"));
    CHECK(allow.at(opencode.permits.input) == Json{{"command", "touch allow"}});  // it says all of it
    CHECK(deny.at(opencode.permits.input) == Json{{"filepath", "/x"}, {"patterns", {"touch deny"}}});
    CHECK(deny.at(opencode.permits.tool) == "external_directory");
    CHECK(deny.at(opencode.permits.id) == "deny");
    CHECK(told_by(opencode, allow.dump())->activity == Activity::waiting);  // the hook writes it as an event
    std::string told;
    const auto events = text_of(dir / "events");
    for (const auto line : split_lines(events)) {
        const auto event = Json::parse(line);
        told += event.at("event").get<std::string>() + event.value("id", "") + " ";
    }
    CHECK(told == "busy allowedallow busy busy allowedwindow busy ");
}

TEST_CASE("the extension of pi tells which file each conversation is in") {
    TempDir dir;
    fs::copy_file(ORANGE_SOURCE_DIR "/harnesses/pi-events.ts", dir / "extension.mjs");
    std::ofstream(dir / "driver.mjs") << k_driver_of_pi;
    Command command;
    command.argv = {installed_node(), (dir / "driver.mjs").string()};
    command.env = {{"ORANGE_EVENTS", (dir / "events").string()}};
    asio::io_context io;
    PosixProcessRunner runner;
    const auto done = run(io, runner.run(std::move(command)));
    REQUIRE(done);
    INFO(done->err);
    EventReader reader;
    PosixFileSystem disk;
    CHECK(reader.read(shipped("pi"), disk, dir / "events"));
    CHECK(reader.told_files() == std::vector<std::string>{"/t/run/talk/one.jsonl", "/t/run/talk/two.jsonl"});
    CHECK(reader.last().activity == Activity::busy);
}
