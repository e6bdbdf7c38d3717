// Every shipped command line, taken by a program that parses its arguments as the real one does and refuses what that
// one refuses (tests/data/stand-ins).
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "daemon/agents/harness.hpp"
#include "daemon/process/environment.hpp"
#include "tests/catch.hpp"
#include "tests/support/os_fixture.hpp"
#include "tests/unit/agents/shipped.hpp"

using namespace orange;
using namespace orange::agents;
using namespace orange::test;

namespace {

const std::string k_source = ORANGE_SOURCE_DIR;

class StandIn {
  public:
    Completed take(const std::string& name, std::vector<std::string> argv, Environment env = {}) {
        Command command;
        command.argv = std::move(argv);
        command.argv.front() = k_source + "/tests/data/stand-ins/" + name;
        env["PATH"] = tests::tools();
        env["STAND_IN"] = dir.path.string();
        env["STAND_IN_ONCE"] = "1";
        command.env = std::move(env);
        auto done = run(io, runner.run(std::move(command)));
        if (!done) FAIL(done.error().message);
        return *done;
    }
    std::string prompt() { return text_of(dir / "prompt"); }
    bool has(const std::string& file) { return std::filesystem::exists(dir / file); }

    asio::io_context io;
    PosixProcessRunner runner;
    TempDir dir;
};

LaunchRequest stand_in_request(const std::string& permissions, const std::string& prompt) {
    LaunchRequest asked;
    asked.permissions = permissions;
    asked.prompt = prompt;
    asked.task_dir = "/tasks/a \"b\"";
    asked.worktree = "/ws/a--1";
    asked.repo = "/repo";
    asked.git_dir = "/repo/.git/worktrees/a--1";
    asked.git_common = "/repo/.git";
    asked.role = "worker";
    asked.summary = "Fix it";
    asked.trusted = true;
    return asked;
}

const std::vector<std::string> k_names = {"claude", "codex", "opencode", "pi", "gemini", "qwen", "copilot", "amp"};

}  // namespace

TEST_CASE("every shipped command line is taken by its program, for all permissions, modes and efforts") {
    StandIn program;
    for (const auto& name : k_names) {
        for (const auto mode : {Mode::persistent, Mode::oneshot}) {
            const auto harness = shipped(name, mode);
            for (const std::string permissions : {"full", "reduced", "review"}) {
                auto efforts = harness.effort_values;
                efforts.insert(efforts.begin(), "");
                for (const auto& effort : efforts) {
                    INFO(name << " " << permissions << " " << effort << " " << argv_name(harness, permissions));
                    auto asked = stand_in_request(permissions, "do it");
                    if (!effort.empty()) asked.effort = effort;
                    const auto made = launch(harness, "/bin/" + name, asked);
                    REQUIRE(made);
                    const auto done = program.take(name, made->argv, made->env);
                    CHECK(done.err == "");
                    CHECK(done.exit_status == 0);
                    CHECK(program.prompt() == "[orange] do it");
                    std::string all;
                    for (const auto& word : made->argv) all += word + "\n";
                    for (const auto& [variable, value] : made->env) all += variable + "=" + value + "\n";
                    if (!effort.empty()) CHECK_THAT(all, Holds(effort));
                }
            }
        }
    }
}

TEST_CASE("every shipped harness passes a model in all its command lines, or refuses one") {
    StandIn program;
    for (const auto& name : k_names) {
        for (const auto mode : {Mode::persistent, Mode::oneshot}) {
            const auto harness = shipped(name, mode);
            for (const std::string permissions : {"full", "reduced", "review"}) {
                INFO(name << " " << permissions << " " << argv_name(harness, permissions));
                auto asked = stand_in_request(permissions, "do it");
                asked.model = "some/model-4.1";
                const auto made = launch(harness, "/bin/" + name, asked);
                CHECK(made.has_value() == (name != "amp"));
                if (!made) continue;
                const auto names_it = [](const std::string& word) { return word.ends_with("some/model-4.1"); };
                CHECK(std::ranges::count_if(made->argv, names_it) == 1);
                const auto done = program.take(name, made->argv, made->env);
                CHECK(done.err == "");
                CHECK(done.exit_status == 0);
                CHECK(program.prompt() == "[orange] do it");
            }
        }
    }
}

TEST_CASE("hostile prompts arrive byte for byte behind the fixed words, and run nothing") {
    StandIn program;
    const std::string rows[] = {"!touch /tmp/x",
                                "/exit",
                                "@file",
                                "--help",
                                "-",
                                "$(id) `id` ${PATH} #(id) \"'\\ ;",
                                "a\nb\n\ttab \xF0\x9F\x8D\x8A {worktree} {prompt_json}",
                                std::string(k_longest_prompt, 'x')};
    for (const auto& name : k_names) {
        for (const auto mode : {Mode::persistent, Mode::oneshot}) {
            for (const auto& hostile : rows) {
                INFO(name << " " << hostile.substr(0, 40));
                const auto made = launch(shipped(name, mode), "/bin/" + name, stand_in_request("full", hostile));
                REQUIRE(made);
                CHECK(program.take(name, made->argv, made->env).exit_status == 0);
                CHECK(program.prompt() == "[orange] " + hostile);
                CHECK_FALSE(program.has("executed"));
            }
        }
    }
}

TEST_CASE("the stand-ins refuse what the programs refuse") {
    StandIn program;
    struct Row {
        const char* name;
        std::vector<std::string> argv;
        int status;
    };
    const Row rows[] = {{"codex", {"--full-auto", "--", "p"}, 2},
                        {"codex", {"exec", "--full-auto", "--", "p"}, 2},
                        {"codex", {"exec", "--no-daemon", "--", "p"}, 2},
                        {"codex", {"-a", "untrusted", "--", "p"}, 2},
                        {"codex", {"-a", "on-failure", "--", "p"}, 2},
                        {"codex", {"-p"}, 2},
                        {"opencode", {"--variant", "low", "--prompt=p"}, 1},
                        {"pi", {"--", "p"}, 1},
                        {"pi", {"-p", "-do it"}, 1},
                        {"pi", {"@file"}, 1},
                        {"claude", {"--frobnicate", "--", "p"}, 1},
                        {"gemini", {"--approval-mode=auto-edit", "--prompt=p"}, 1},
                        {"qwen", {"--approval-mode=auto_edit", "--prompt=p"}, 1},
                        {"qwen", {"--skip-trust", "--prompt=p"}, 1},
                        {"copilot", {"--", "p"}, 2},
                        {"copilot", {"--reasoning-effort=ultra", "--prompt=p"}, 2},
                        {"amp", {"--dangerously-allow-all", "--execute=p"}, 1}};
    for (const auto& row : rows) {
        INFO(row.name << " " << row.argv.front());
        auto argv = row.argv;
        argv.insert(argv.begin(), row.name);
        CHECK(program.take(row.name, argv).exit_status == row.status);
    }
    CHECK(program.take("claude", {"claude", "--allowedTools", "Bash(git *)", "p"}).exit_status == 0);
    CHECK(program.prompt().empty());  // swallowed
    if (::geteuid() == 0) {
        const std::vector<std::string> full = {"claude", "--dangerously-skip-permissions", "--", "p"};
        CHECK(program.take("claude", full, {{"STAND_IN_ROOT", "1"}}).exit_status == 1);
        CHECK(program.take("claude", full, {{"STAND_IN_ROOT", "1"}, {"IS_SANDBOX", "1"}}).exit_status == 0);
    }
}

TEST_CASE("a value inside JSON is escaped, and what a program must be kept from stays in its environment") {
    const auto made = launch(shipped("opencode"), "/bin/opencode", stand_in_request("reduced", "p"));
    REQUIRE(made);
    CHECK_THAT(made->env.at("OPENCODE_PERMISSION"), Holds(R"("/tasks/a \"b\"/*":"allow")"));
    CHECK_FALSE(made->env.contains("OPENCODE_BUILD_VARIANT"));
    auto asked = stand_in_request("full", "p");
    asked.effort = "low";
    const auto full = launch(shipped("opencode"), "/bin/opencode", asked);
    CHECK(full->env.at("OPENCODE_BUILD_VARIANT") == "low");
    CHECK(full->env.at("OPENCODE_PERMISSION") == R"({"question":"deny"})");
}

TEST_CASE("codex works in its sandbox with what git and orange need, and never with its background server") {
    for (const std::string permissions : {"full", "reduced", "review"}) {
        const auto argv = launch(shipped("codex"), "/bin/codex", stand_in_request(permissions, "p"))->argv;
        const auto has = [&](const std::string& word) {
            return std::find(argv.begin(), argv.end(), word) != argv.end();
        };
        CHECK(has("--no-daemon"));
        CHECK(has("allow_login_shell=false"));
        CHECK(has("sandbox_workspace_write.network_access=true") == (permissions != "full"));
        for (const char* folder : {"/worktrees/a--1", "/objects", "/refs", "/logs"}) {
            CHECK(has(std::string("/repo/.git") + folder) == (permissions == "reduced"));
        }
    }
}
