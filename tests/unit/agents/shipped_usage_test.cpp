// Lines that the programs wrote while an API of numbers answered them: tests/data/usage/<program> has parts of a HOME
// and of a folder of runs. The conversations have sub-agents, and were cleared, compacted (pi, codex, opencode) and
// continued.
#include <fstream>

#include "common/base/text.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/agents/launcher.hpp"
#include "daemon/agents/usage.hpp"
#include "daemon/files/posix_file_system.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;
namespace fs = std::filesystem;

namespace {

/// Copies what a program wrote, with other names for its HOME and its folder of runs.
void lay_out(const std::string& program, const TempDir& dir) {
    const auto from = fs::path(ORANGE_SOURCE_DIR "/tests/data/usage") / program;
    fs::create_directories(dir / "home");
    fs::copy(from, dir / ".", fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    const std::pair<std::string, fs::path> names[] = {{"/home/ada", dir / "home"}, {"/run-folder", dir / "run"}};
    auto text = text_of(dir / "run/r1.events");
    for (const auto& [name, path] : names) {
        for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + path.string().size())) {
            text.replace(at, name.size(), path.string());
        }
    }
    std::ofstream(dir / "run/r1.events") << text;
}

}  // namespace

TEST_CASE("the shipped definitions find each request that their programs have recorded, once") {
    struct Row {
        const char* program;
        Tokens tokens;
        const char* model;
        std::size_t files;
    };
    const Row rows[] = {
        {"claude", {11, 1155, 3327, 550, 495}, "claude-opus-5-5", 3},
        {"codex", {8, 836, 2422, 0, 356}, "gpt-5-scripted", 3},
        {"opencode", {9, 947, 2726, 0, 407}, "scripted", 1},
        {"pi", {7, 828, 2421, 0, 348}, "scripted", 2},
        {"gemini", {27, 3060, 8173, 0, 1232}, "gemini-2.5-pro", 3},
        {"qwen", {11, 1188, 3325, 0, 476}, "scripted", 3},
        {"copilot", {11, 1160, 3325, 0, 500}, "scripted", 2},
    };
    for (const auto& row : rows) {
        INFO(row.program);
        TempDir dir;
        lay_out(row.program, dir);
        const auto harness = shipped(row.program);
        PosixFileSystem disk;
        const RunId run{"r1"};
        EventReader events;
        events.read(harness, disk, events_file(dir / "run", run));
        const Environment env{{"HOME", (dir / "home").string()}};
        UsageSource source{harness,          env, dir / "run",        Launcher::talk_folder(dir / "run"), run, {},
                           Timestamp::max(), {},  events.told_files()};
        source.ids = events.told_ids();
        if (!harness.session.start.empty()) source.ids.push_back("5f0c7f3e-9df3-4d7e-8a55-0123456789ab");
        UsageReader reader;
        while (reader.read(disk, source)) {
        }
        Tokens sum;
        for (const auto& each : reader.rows()) {
            CHECK(each.model == row.model);
            CHECK(each.money == 0);
            sum += each.tokens;
        }
        CHECK(sum == row.tokens);
        CHECK(reader.files().size() == row.files);
        CHECK_FALSE(reader.is_incomplete());
        CHECK(reader.window().has_value() == (harness.name == "codex"));
        if (reader.window()) CHECK(reader.window()->percent == 63);
    }
}
