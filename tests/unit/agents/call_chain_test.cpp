#include "daemon/agents/call_chain.hpp"

#include "tests/catch.hpp"

using namespace orange::agents;

namespace {

using Words = std::vector<std::string>;

const std::string k_tree = "/ws/shop--1";

Program program(const std::string& exe, const Words& argv) {
    return program_of(exe, argv, k_tree + "/src");
}

bool in_tree(const std::string& path) {
    return path.starts_with(k_tree + "/");
}

const Program k_orange = program("/usr/bin/orange", {"orange", "task", "update"});
const Program k_claude = program("/usr/bin/node", {"claude"});
const Program k_bash = program("/usr/bin/bash", {"/bin/bash", "-c", "-l", "source /home/me/snapshot && eval orange"});
const Program k_sh = program("/usr/bin/dash", {"sh", "-c", "orange task update"});
const Program k_npx = program("/usr/bin/node", {"npm exec @anthropic-ai/claude-code"});

}  // namespace

TEST_CASE("a program is known by its executable, its title, its script or its module") {
    struct Row {
        const char* exe;
        Words argv;
        const char* name;
        bool runner;
        const char* script;
    };
    const Row rows[] = {
        {"/usr/bin/make", {"make", "test"}, "make", true, ""},
        {"/usr/bin/make (deleted)", {"make"}, "make", true, ""},
        {"/usr/bin/cmake", {"cmake", "--build", "build"}, "cmake", true, ""},
        {"/usr/local/go/bin/go", {"go", "test", "./..."}, "go", true, ""},
        {"/home/me/.rustup/bin/cargo", {"cargo", "test"}, "cargo", true, ""},
        {"/usr/bin/node", {"npm test"}, "npm", true, ""},
        {"/usr/bin/node", {"node", "/usr/bin/npm", "test"}, "npm", true, "/usr/bin/npm"},
        {"/usr/bin/node",
         {"node", "/usr/lib/node_modules/npm/bin/npx-cli.js"},
         "npx-cli.js",
         true,
         "/usr/lib/node_modules/npm/bin/npx-cli.js"},
        {"/usr/bin/node", {"node", "--no-warnings", "/opt/yarn.js", "test"}, "yarn.js", true, "/opt/yarn.js"},
        {"/usr/bin/node", {"claude"}, "claude", false, ""},
        {"/usr/bin/node", {"node", "/usr/bin/codex", "exec"}, "codex", false, "/usr/bin/codex"},
        {"/usr/bin/node", {"node", "make.js"}, "make.js", false, "/ws/shop--1/src/make.js"},
        {"/usr/bin/node", {"node", "-e", "make"}, "node", false, ""},
        {"/usr/bin/python3.11", {"/usr/bin/python3", "/usr/bin/pytest", "-q"}, "pytest", true, "/usr/bin/pytest"},
        {"/usr/bin/python3.11", {"python3", "-B", "-m", "pytest"}, "pytest", true, ""},
        {"/usr/bin/python3.11", {"python3", "-m", "tox"}, "tox", true, ""},
        {"/usr/bin/python3.11", {"python3", "-c", "import pytest"}, "python3", false, ""},
        {"/usr/bin/python3.11", {"python3", "tests/all.py"}, "all.py", false, "/ws/shop--1/src/tests/all.py"},
        {"/usr/bin/dash", {"sh", "../run.sh"}, "run.sh", false, "/ws/shop--1/run.sh"},
        {"/usr/bin/bash", {"bash", "-o", "pipefail", "-c", "make"}, "bash", false, ""},
        {"/usr/bin/bash", {"-bash"}, "bash", false, ""},
        {"/usr/bin/bash", {"bash", "-euo", "pipefail", "/x/run"}, "run", false, "/x/run"},
        {"/usr/lib/jvm/bin/java",
         {"java", "-cp", "x.jar", "org.gradle.wrapper.GradleWrapperMain", "test"},
         "java",
         true,
         ""},
        {"/usr/lib/jvm/bin/java", {"java", "org.codehaus.plexus.classworlds.launcher.Launcher"}, "java", true, ""},
        {"/usr/lib/jvm/bin/java", {"java", "-jar", "server.jar"}, "java", false, ""},
        {"", {}, "", false, ""},
    };
    for (const auto& row : rows) {
        const auto found = program(row.exe, row.argv);
        INFO(row.exe << " " << (row.argv.empty() ? "" : row.argv.back()));
        CHECK(found.name == row.name);
        CHECK(is_runner(found) == row.runner);
        CHECK(found.script == row.script);
    }
}

TEST_CASE("a verdict is told from one that a test has written, by what stands in between") {
    const auto make = program("/usr/bin/make", {"make", "test"});
    const auto npm = program("/usr/bin/node", {"npm test"});
    const auto test = program("/usr/bin/python3.11", {"python3", "test.py"});
    const auto binary = program("/ws/shop--1/build/test", {"build/test"});
    const auto hook = program("/usr/bin/dash", {"sh", ".husky/pre-commit"});
    const auto wrapper = program("/usr/bin/bash", {"bash", "/usr/local/bin/my-claude"});
    const auto agent = program("/usr/bin/dash", {"sh", "/opt/agent.sh"});
    struct Row {
        const char* how;
        std::vector<Program> programs;  ///< the agent first
        const char* through;
    };
    const std::vector<Row> rows = {
        {"directly", {k_claude, k_orange}, ""},
        {"by the agent's shell", {k_claude, k_bash, k_orange}, ""},
        {"by a shell in a shell", {k_claude, k_bash, k_sh, k_orange}, ""},
        {"the agent started by npx", {k_npx, k_sh, k_claude, k_bash, k_orange}, ""},
        {"the same by a wrapper", {wrapper, k_npx, k_sh, k_claude, k_bash, k_orange}, ""},
        {"a wrapper alone", {wrapper, k_claude, k_bash, k_orange}, ""},
        {"an agent that is a script", {agent, k_orange}, ""},
        {"the same, by a shell", {agent, k_sh, k_orange}, ""},
        {"make", {k_claude, k_bash, make, k_sh, k_orange}, "make"},
        {"npm test below an agent of npx", {k_npx, k_sh, k_claude, k_bash, npm, k_sh, k_orange}, "npm"},
        {"make below an agent that is a script", {agent, k_sh, make, k_sh, k_orange}, "make"},
        {"make below such an agent, and what it runs",
         {agent, make, k_sh, program("/usr/bin/python3.11", {"python3", "-c", "call()"}), k_orange},
         "make"},
        {"make below such an agent, and a program", {agent, make, program("/usr/bin/timeout", {}), k_orange}, "make"},
        {"an agent that is started by cargo", {program("/usr/bin/cargo", {"cargo", "run"}), k_claude, k_orange}, ""},
        {"make as the only program", {make, k_sh, k_orange}, ""},
        {"a test", {k_claude, k_bash, test, k_orange}, "test.py"},
        {"a test that speaks for itself", {k_claude, k_bash, test}, "test.py"},
        {"a program that was built", {k_claude, k_bash, binary, k_sh, k_orange}, "test"},
        {"a test below an agent that is a script", {agent, k_sh, test, k_orange}, "test.py"},
        {"a hook of the worktree",
         {k_claude, k_bash, program("/usr/bin/git", {"git", "commit"}), hook, k_orange},
         "pre-commit"},
        {"an agent of the worktree's own", {program("/ws/shop--1/agent", {}), k_sh, k_orange}, ""},
        {"nothing known", {}, ""},
    };
    for (const auto& row : rows) {
        INFO(row.how);
        CHECK(call_chain({row.programs.rbegin(), row.programs.rend()}, in_tree).through == row.through);
    }
}

TEST_CASE("a chain is told from the agent down, and harmlessly") {
    const auto evil = program("/tmp/\x1b[31mred", {"red"});
    CHECK(call_chain({k_orange, evil, k_bash, k_claude}, in_tree).text == "claude > bash > \\x1b[31mred > orange");
    const std::vector<Program> many(500, k_bash);
    CHECK(call_chain(many, in_tree).text.size() <= 410);
}
