#include "daemon/agents/login_environment.hpp"

#include <stdlib.h>

#include <asio/io_context.hpp>
#include <filesystem>
#include <fstream>

#include "daemon/async/async.hpp"
#include "daemon/process/posix_process_runner.hpp"
#include "tests/catch.hpp"

using namespace orange;
using namespace orange::agents;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

class FakeRunner final : public ProcessRunner {
  public:
    Command seen;
    Result<Completed> answer = Completed{0, {}, {}};
    Awaitable<Result<Completed>> run(Command command) override {
        seen = std::move(command);
        co_return answer;
    }
};

Awaitable<void> resolve_into(ProcessRunner& runner, Environment own, LoginEnvironment& found) {
    found = co_await resolve_login_environment(runner, 5s, std::move(own));
}

LoginEnvironment resolved(ProcessRunner& runner, Environment own) {
    asio::io_context io;
    LoginEnvironment found;
    async::spawn(io.get_executor(), "test", resolve_into(runner, std::move(own), found));
    io.run();
    return found;
}

}  // namespace

TEST_CASE("the environment is what stands behind the last marker") {
    const std::string noise = "motd MARK\nA=noise\0";
    const auto text = noise + std::string("MARK\0A=1\0B=two\nlines\0=odd\0none\0C=\0", 34);
    CHECK(parse_environment(text, "MARK") == Environment{{"A", "1"}, {"B", "two\nlines"}, {"C", ""}});
    CHECK(parse_environment("A=1", "MARK").empty());
}

TEST_CASE("the login shell of the user is asked, with a fixed text") {
    FakeRunner runner;
    const auto found = resolved(runner, {{"SHELL", "/bin/zsh"}, {"PATH", "/own"}, {"LD_PRELOAD", "x"}});
    REQUIRE(runner.seen.argv.size() == 4);
    CHECK(runner.seen.argv[0] == "/bin/zsh");
    CHECK(runner.seen.argv[1] == "-l");
    CHECK_FALSE(runner.seen.env->contains("LD_PRELOAD"));
    CHECK(found.variables.at("PATH") == "/own");
    CHECK(found.problem == "/bin/zsh -l did not tell its environment");
}

TEST_CASE("a shell that fails leaves the daemon's own environment and the reason") {
    FakeRunner runner;
    runner.answer = Completed{1, "", "This account is\x1b currently not available.\n"};
    const auto found = resolved(runner, {{"SHELL", "/usr/sbin/nologin"}, {"PATH", "/own"}});
    CHECK(found.variables.at("PATH") == "/own");
    CHECK(found.source == "the daemon's own environment");
    CHECK(found.problem == "/usr/sbin/nologin -l ended with status 1: This account is\\x1b currently not available.");
    runner.answer = Error{ErrorCode::timeout, "took too long", {}};
    CHECK_THAT(resolved(runner, {{"SHELL", "/bin/sh"}}).problem, Catch::Contains("took too long"));
}

TEST_CASE("a real login shell tells what its profile sets, whatever the profile prints") {
    std::string home = (fs::temp_directory_path() / "orange-login-XXXXXX").string();
    REQUIRE(::mkdtemp(home.data()));
    std::ofstream(home + "/.profile") << "set -v\necho hello; export FROM_PROFILE='a b'; PATH=/from/profile:$PATH\n";
    PosixProcessRunner runner;
    const auto found = resolved(runner, {{"SHELL", "/bin/sh"}, {"HOME", home}, {"PATH", "/usr/bin:/bin"}});
    fs::remove_all(home);
    CHECK(found.problem == "");
    CHECK(found.source == "/bin/sh -l");
    CHECK(found.variables.at("FROM_PROFILE") == "a b");
    CHECK_THAT(found.variables.at("PATH"), Catch::StartsWith("/from/profile:"));
}

TEST_CASE("an agent's environment is layered, and the last word is Orange's") {
    AgentVariables agent;
    agent.task = "T";
    agent.project = "shop";
    agent.role = Role::reviewer;
    agent.run = "R";
    agent.home = "/home/me/orange";
    agent.bin = "/opt/orange/bin";
    agent.terminal = "tmux-256color";
    agent.working_dir = "/ws";
    EnvironmentLayers layers;
    layers.base = {{"PATH", "/usr/bin:/opt/orange/bin:/bin"},
                   {"GIT_DIR", "x"},
                   {"TMUX_PANE", "%1"},
                   {"LD_PRELOAD", "x"},
                   {"DYLD_X", "x"},
                   {"ORANGE_SHARE", "x"},
                   {"TERM", "dumb"},
                   {"A", "base"},
                   {"LANG", "de_DE.UTF-8"}};
    layers.config = {{"A", "config"}, {"B", "config"}, {"ORANGE_ROLE", "human"}};
    layers.project = {{"B", "project"}, {"C", "project"}};
    layers.harness = {{"C", "harness"}, {"ORANGE_HOME", "/else"}};
    CHECK(agent_environment(layers, agent) == Environment{{"A", "config"},
                                                          {"B", "project"},
                                                          {"C", "harness"},
                                                          {"LANG", "de_DE.UTF-8"},
                                                          {"ORANGE_HOME", "/home/me/orange"},
                                                          {"ORANGE_PROJECT", "shop"},
                                                          {"ORANGE_ROLE", "reviewer"},
                                                          {"ORANGE_RUN", "R"},
                                                          {"ORANGE_TASK", "T"},
                                                          {"PATH", "/opt/orange/bin:/usr/bin:/bin"},
                                                          {"PWD", "/ws"},
                                                          {"TERM", "tmux-256color"}});
}

TEST_CASE("an empty base still makes a usable environment") {
    AgentVariables agent;
    agent.bin = "/b";
    agent.terminal = terminal_type();
    const auto made = agent_environment({}, agent);
    CHECK(made.at("PATH") == "/b:/usr/local/bin:/usr/bin:/bin");
    CHECK(made.at("LANG") == "C.UTF-8");
    CHECK_THAT(made.at("TERM"), Catch::EndsWith("-256color"));
    CHECK_FALSE(made.contains("ORANGE_RUN"));
}
