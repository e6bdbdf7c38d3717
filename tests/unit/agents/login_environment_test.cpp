#include "daemon/agents/login_environment.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <filesystem>
#include <fstream>

#include "daemon/async/async.hpp"
#include "daemon/process/posix_process_runner.hpp"
#include "tests/catch.hpp"
#include "tests/machine.hpp"

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

TEST_CASE("the umask is the line before the last marker") {
    CHECK(parse_umask("motd\n\n0027\nMARK\0A=1", "MARK") == 027);
    CHECK(parse_umask("0002 MARK\n22\nMARK", "MARK") == 022);
    for (const char* none : {"0022", "\numask: no such command\nMARK", "u=rwx,g=rx\nMARK", "0277\nMARK", "MARK"}) {
        CHECK_FALSE(parse_umask(none, "MARK"));
    }
}

TEST_CASE("the login shell of the user is asked, with a fixed text") {
    FakeRunner runner;
    const auto found = resolved(runner, {{"SHELL", "/bin/zsh"}, {"PATH", "/own"}, {"LD_PRELOAD", "x"}});
    REQUIRE(runner.seen.argv.size() == 4);
    CHECK(runner.seen.argv[0] == "/bin/zsh");
    CHECK(runner.seen.argv[1] == "-l");
    CHECK_FALSE(runner.seen.env->contains("LD_PRELOAD"));
    CHECK(found.variables.at("PATH") == "/own");
    CHECK_THAT(found.problem, Tells("/bin/zsh -l"));
}

TEST_CASE("a shell that fails leaves the daemon's own environment and the reason") {
    FakeRunner runner;
    runner.answer = Completed{1, "", "This account is\x1b currently not available.\n"};
    const auto found = resolved(runner, {{"SHELL", "/usr/sbin/nologin"}, {"PATH", "/own"}});
    CHECK(found.variables.at("PATH") == "/own");
    CHECK(found.source == "the daemon's own environment");
    CHECK_THAT(found.problem,
               Tells("/usr/sbin/nologin -l") && Tells("1") && Holds("This account is\\x1b currently not available."));
    runner.answer = Error(ErrorCode::timeout, "took too long");
    CHECK_THAT(resolved(runner, {{"SHELL", "/bin/sh"}}).problem, Holds("took too long"));
}

TEST_CASE("a real login shell tells what its profile sets, whatever the profile prints") {
    std::string home = (fs::temp_directory_path() / "orange-login-XXXXXX").string();
    REQUIRE(::mkdtemp(home.data()));
    std::ofstream(home + "/.profile")
        << "set -v\necho hello; export FROM_PROFILE='a b'; PATH=/from/profile:$PATH; umask 027\n";
    PosixProcessRunner runner;
    const auto found = resolved(runner, {{"SHELL", "/bin/sh"}, {"HOME", home}, {"PATH", tests::tools()}});
    fs::remove_all(home);
    CHECK(found.problem == "");
    CHECK(found.source == "/bin/sh -l");
    CHECK(found.variables.at("FROM_PROFILE") == "a b");
    CHECK(found.umask == 027);
    CHECK_THAT(found.variables.at("PATH"), Catch::StartsWith("/from/profile:"));
}

TEST_CASE("a user whom only the system's programs know has the name and the shell that they tell") {
    std::string home = (fs::temp_directory_path() / "orange-login-XXXXXX").string();
    REQUIRE(::mkdtemp(home.data()));
    std::ofstream(home + "/getent") << "#!/bin/sh\necho \"$*\" >" << home
                                    << "/asked\necho eve:x:1:1:Eve:/home/eve:/bin/sh\n";
    fs::permissions(home + "/getent", fs::perms::owner_all);
    PosixProcessRunner runner;
    Environment own = {{"HOME", home}, {"PATH", home + ":" + tests::tools()}};
    const auto found = resolved(runner, own);
    std::string asked;
    std::getline(std::ifstream(home + "/asked"), asked);
    own["USER"] = own["LOGNAME"] = "ada";
    own["SHELL"] = "/bin/sh";
    fs::remove(home + "/asked");
    const auto known = resolved(runner, own);
    const bool asked_again = fs::exists(home + "/asked");
    fs::remove_all(home);
    CHECK(asked == "passwd " + std::to_string(::geteuid()));
    CHECK(found.problem == "");
    CHECK(found.source == "/bin/sh -l");
    CHECK(found.variables.at("HOME") == home);
    CHECK(found.variables.at("USER") == "eve");
    CHECK(found.variables.at("LOGNAME") == "eve");
    CHECK(known.variables.at("USER") == "ada");
    CHECK_FALSE(asked_again);
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
    agent.port = 20010;
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
                                                          {"ORANGE_PORT", "20010"},
                                                          {"ORANGE_PROJECT", "shop"},
                                                          {"ORANGE_ROLE", "reviewer"},
                                                          {"ORANGE_RUN", "R"},
                                                          {"ORANGE_TASK", "T"},
                                                          {"ORANGE_WORKSPACE", "/ws"},
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

TEST_CASE("an agent's PATH begins where its program was found, and no layer takes that away") {
    AgentVariables agent;
    agent.bin = "/opt/orange/bin";
    agent.program_path = "/nvm/bin:/usr/bin";
    EnvironmentLayers layers;
    layers.base = {{"PATH", "/usr/bin:/bin"}};
    CHECK(agent_environment(layers, agent).at("PATH") == "/opt/orange/bin:/nvm/bin:/usr/bin:/bin");
    layers.project = {{"PATH", "/project/bin:/bin"}};
    CHECK(agent_environment(layers, agent).at("PATH") == "/opt/orange/bin:/project/bin:/bin:/nvm/bin:/usr/bin");
}

namespace {

Awaitable<void> paths_into(ProcessRunner& runner, std::chrono::milliseconds deadline, Environment own,
                           std::vector<SearchPath>& found) {
    auto login = co_await resolve_login_environment(runner, deadline, own);
    found = co_await search_paths(runner, deadline, std::move(login), std::move(own));
}

std::vector<SearchPath> paths_of(ProcessRunner& runner, std::chrono::milliseconds deadline, Environment own) {
    asio::io_context io;
    std::vector<SearchPath> found;
    async::spawn(io.get_executor(), "test", paths_into(runner, deadline, std::move(own), found));
    io.run();
    return found;
}

}  // namespace

TEST_CASE("a real bash is asked twice, since .bashrc adds to PATH only where it is interactive", "[slow]") {
    std::string home = (fs::temp_directory_path() / "orange-login-XXXXXX").string();
    REQUIRE(::mkdtemp(home.data()));
    std::ofstream(home + "/.profile") << ". \"$HOME/.bashrc\"\n";
    std::ofstream(home + "/.bashrc") << "case $- in *i*) ;; *) return ;; esac\necho noise\nPATH=/from/bashrc:$PATH\n";
    PosixProcessRunner runner;
    const Environment own = {{"SHELL", "/bin/bash"}, {"HOME", home}, {"PATH", "/usr/bin:/bin"}};
    const auto paths = paths_of(runner, 10s, own);
    REQUIRE(paths.size() == 3);
    CHECK(paths[0].source == "/bin/bash -l");
    CHECK_THAT(paths[0].path, !Holds("/from/bashrc"));
    CHECK(paths[1].source == "/bin/bash -l -i");
    CHECK_THAT(paths[1].path, Catch::StartsWith("/from/bashrc:"));
    CHECK(paths[2].path == "/usr/bin:/bin");

    std::ofstream(home + "/.bashrc") << "case $- in *i*) sleep 600 ;; esac\n";
    const auto hanging = paths_of(runner, 3s, own);
    fs::remove_all(home);
    REQUIRE(hanging.size() == 3);
    CHECK(hanging[0].problem.empty());
    CHECK(hanging[1].path.empty());
    CHECK_THAT(hanging[1].problem, Tells("/bin/bash -l -i` did not end within 3"));
}

TEST_CASE("a login shell that does not answer is not asked again as an interactive one") {
    FakeRunner runner;
    runner.answer = Error(ErrorCode::timeout, "took too long");
    const auto paths = paths_of(runner, 5s, {{"SHELL", "/bin/sh"}, {"PATH", "/own"}});
    REQUIRE(paths.size() == 1);
    CHECK(paths[0].path == "/own");
}
