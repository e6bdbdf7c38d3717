#include "daemon/agents/versions.hpp"

#include <sys/stat.h>

#include "daemon/files/posix_file_system.hpp"
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
        return answer_of(versions->of(std::move(entries), {{"PATH", tests::tools()}}));
    }

    /// Does not wait for programs that are still asked.
    std::map<std::string, std::string> answer_of(Awaitable<std::map<std::string, std::string>> asking) {
        std::optional<std::map<std::string, std::string>> answer;
        asio::co_spawn(io, into(answer, std::move(asking)), [](const std::exception_ptr&) {});
        io.restart();
        while (!answer) io.run_one();
        return *answer;
    }
    /// As the next daemon has them.
    void begin_anew(Versions::Patience patience = {}) {
        versions = std::make_unique<Versions>(runner, io.get_executor(), files, Path(dir / "versions.json"), patience);
    }

    TempDir dir;
    asio::io_context io;
    PosixProcessRunner runner;
    PosixFileSystem files;
    std::unique_ptr<Versions> versions =
        std::make_unique<Versions>(runner, io.get_executor(), files, Path(dir / "versions.json"));
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

TEST_CASE("a version that was answered once is shown by the next daemon, too, if its program does not answer in time") {
    Programs programs;
    const auto gate = (programs.dir / "gate").string();
    const auto slow = programs.entry("slow", "[ -e '" + gate + "' ] || exec sleep 600\necho 1.2.3\n");
    programs.begin_anew({std::chrono::milliseconds(50), std::chrono::seconds(60)});
    CHECK(programs.ask({slow}).empty());
    std::ofstream(gate) << "";
    programs.begin_anew();
    CHECK(programs.ask({slow}).at("slow") == "1.2.3");
    programs.versions->keep();

    std::filesystem::remove(gate);
    programs.begin_anew({std::chrono::milliseconds(50), std::chrono::seconds(60)});
    CHECK(programs.ask({slow}).at("slow") == "1.2.3");
    CHECK(programs.versions->known(slow, {}) == "1.2.3");
    // Another program in its place is not the one that answered.
    programs.entry("slow", "exec sleep 600 # another one\n");
    CHECK(programs.ask({slow}).empty());
    CHECK(programs.versions->known(slow, {}).empty());
}

TEST_CASE("a program that answers late is known at the next call") {
    Programs programs;
    const auto gate = (programs.dir / "gate").string();
    const auto late = programs.entry("late", "until [ -e '" + gate + "' ]; do sleep 0.01; done\necho 2.0.1\n");
    programs.begin_anew({std::chrono::milliseconds(50), std::chrono::seconds(60)});
    CHECK(programs.ask({late}).empty());
    std::ofstream(gate) << "";
    for (int i = 0; i < 1000 && programs.ask({late}).empty(); ++i) {
    }
    CHECK(programs.ask({late}).at("late") == "2.0.1");
}

TEST_CASE("a file of versions that is not one is replaced, and a version is reported once") {
    for (const char* text :
         {"", "[]", "{\"schema\": 1, \"programs\": [1], \"reported\": 7}", "{\"schema\": 1, \"programs\": {\"/x\": 3}}",
          "{\"reported\": {\"pi\": \"1.6.0\"}}", "\xff"}) {
        Programs programs;
        std::ofstream(programs.dir / "versions.json") << text;
        CHECK(programs.versions->is_first_report("pi", "1.6.0"));
        programs.begin_anew();
        CHECK_FALSE(programs.versions->is_first_report("pi", "1.6.0"));
        CHECK(programs.versions->is_first_report("pi", "1.7.0"));
        CHECK(programs.versions->is_first_report("codex", "1.6.0"));
    }
}

TEST_CASE("a program is another one if its file, or the one behind its link, is replaced or changed") {
    Programs programs;
    const auto one = programs.entry("one", "echo 1.0.0\n").program, two = programs.entry("two", "echo 2.0.0\n").program;
    const auto link = programs.dir / "link";
    std::filesystem::create_symlink(one, link);
    const auto before = identity_of(link.string());
    CHECK(before == identity_of(one));
    std::filesystem::remove(link);
    std::filesystem::create_symlink(two, link);
    CHECK(identity_of(link.string()) != before);
    std::filesystem::last_write_time(one, std::filesystem::last_write_time(one) + std::chrono::seconds(2));
    CHECK(identity_of(one) != before);
    CHECK(identity_of((programs.dir / "nowhere").string()).empty());
}
