#include "daemon/agents/versions.hpp"

#include <sys/stat.h>

#include "daemon/process/posix_process_runner.hpp"
#include "tests/catch.hpp"
#include "tests/machine.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;

namespace {

/// Programs that are scripts, and what is asked of them.
class Programs {
  public:
    HarnessEntry entry(const std::string& name, const std::string& script) {
        const auto file = dir / name;
        std::ofstream(file) << "#!/bin/sh\n" + script;
        ::chmod(file.c_str(), 0700);
        HarnessEntry made;
        made.harness.name = name;
        made.harness.version_args = {"--version"};
        made.program = file.string();
        return made;
    }
    std::map<std::string, std::string> ask(std::vector<HarnessEntry> entries) {
        return run(io, versions.of(std::move(entries), {{"PATH", tests::tools()}}));
    }

    TempDir dir;
    asio::io_context io;
    PosixProcessRunner runner;
    Versions versions{runner, io.get_executor()};
};

}  // namespace

TEST_CASE("a version is the first word that begins with a digit and has a dot") {
    CHECK(version_in("2.1.197 (Claude Code)\n") == "2.1.197");
    CHECK(version_in("codex-cli 0.169.0\n") == "0.169.0");
    CHECK(version_in("v1.18.33\n") == "1.18.33");
    CHECK(version_in("GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n") == "1.0.102");
    CHECK(version_in("0.0.1790142911-g7618fb (released 2026-09-23T05:55:11.000Z, 2mo ago)\n") ==
          "0.0.1790142911-g7618fb");
    CHECK(version_in("[DEP0040] DeprecationWarning: x\n0.61.0\n") == "0.61.0");
    for (const char* none : {"", "\n", "usage: x", "7", "v", ".5"}) CHECK(version_in(none).empty());
}

TEST_CASE("a version is read from standard output or from standard error") {
    Programs programs;
    const auto known =
        programs.ask({programs.entry("out", "echo 'out 1.2.3'\n"), programs.entry("err", "echo 0.73.1 >&2\n"),
                      programs.entry("both", "echo 'a warning of 9.9.9' >&2\necho 4.5.6\n"),
                      programs.entry("args", "[ \"$*\" = --version ] && echo 7.8.9\n"),
                      programs.entry("none", "echo hello >&2\n"), programs.entry("fails", "echo 1.0.0\nexit 1\n")});
    CHECK(known == std::map<std::string, std::string>{
                       {"out", "1.2.3"}, {"err", "0.73.1"}, {"both", "4.5.6"}, {"args", "7.8.9"}});
}

TEST_CASE("a program that another one runs needs a version of that one") {
    Programs programs;
    const auto folder = programs.dir / "bin";
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "node") << "#!/bin/sh\necho v20.20.2\n";
    ::chmod((folder / "node").c_str(), 0700);
    auto pi = programs.entry("pi", "");
    const auto unmet = [&](const HarnessEntry& entry) {
        return run(programs.io, unmet_needs(programs.runner, entry, {{"PATH", folder.string()}}));
    };
    pi.harness.needs = {{"node", "22.19"}};
    CHECK(unmet(pi).empty());  // no node runs it
    std::ofstream(pi.program) << "#!/usr/bin/env node\n";
    REQUIRE(unmet(pi).size() == 1);
    for (const auto& fact : {std::string("22.19"), std::string("20.20.2"), (folder / "node").string()}) {
        CHECK_THAT(unmet(pi).front(), Tells(fact));
    }
    pi.harness.needs = {{"node", "20.20"}};
    CHECK(unmet(pi).empty());
    pi.harness.needs = {{"python3", "99"}};
    CHECK(unmet(pi).empty());
}

TEST_CASE("another version than the measured one is shown with that") {
    CHECK(version_text("2.1.332", "2.1.332") == "2.1.332");
    CHECK(version_text("2.1.332", "") == "2.1.332");
    CHECK(version_text("", "2.1.332").empty());
    for (const std::string version : {"2.1.401", "2.1.332"}) {
        CHECK_THAT(version_text("2.1.401", "2.1.332"), Tells(version));
    }
}

TEST_CASE("a version holds until the program's file changes") {
    Programs programs;
    const auto entry = programs.entry("pi", "echo asked >>\"$0.asked\"\necho 1.0.0 >&2\n");
    CHECK(programs.ask({entry}).at("pi") == "1.0.0");
    CHECK(programs.ask({entry}).at("pi") == "1.0.0");
    CHECK(text_of(programs.dir / "pi.asked") == "asked\n");
    programs.entry("pi", "echo 1.0.1 >&2\n");
    std::filesystem::last_write_time(programs.dir / "pi",
                                     std::filesystem::last_write_time(programs.dir / "pi") + std::chrono::seconds(2));
    CHECK(programs.ask({entry}).at("pi") == "1.0.1");
}
