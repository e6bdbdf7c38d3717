#include "daemon/agents/call_chain.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "common/base/text.hpp"

namespace orange::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_name_columns = 40, k_chain_columns = 400;

constexpr std::array<std::string_view, 15> k_runners = {"make", "gmake", "ninja",  "cmake",  "ctest",
                                                        "npm",  "npx",   "pnpm",   "yarn",   "cargo",
                                                        "go",   "tox",   "pytest", "gradle", "mvn"};
/// The runners that also start agents.
constexpr std::array<std::string_view, 4> k_launchers = {"npm", "npx", "pnpm", "yarn"};
/// Scripts whose file name is not the runner's name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> k_runner_scripts = {
    {{"npm-cli.js", "npm"}, {"npx-cli.js", "npx"}, {"yarn.js", "yarn"}, {"pnpm.cjs", "pnpm"}, {"pnpm.mjs", "pnpm"}}};
constexpr std::array<std::string_view, 8> k_shells = {"sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "ash"};
constexpr std::array<std::string_view, 9> k_interpreters = {"python", "node", "nodejs", "deno", "bun",
                                                            "ruby",   "perl", "php",    "lua"};

template <class Words>
bool is_among(const Words& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

/// Returns "python" for "python3.11".
std::string_view without_version(std::string_view name) {
    const auto end = name.find_last_not_of("0123456789.");
    return name.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::string_view runner_of(std::string_view script) {
    for (const auto& [name, runner] : k_runner_scripts) {
        if (name == script) return runner;
    }
    return script;
}

/// The script or the module that an interpreter executes, by its arguments. Options are skipped. Both are empty if an
/// option has the program's text.
struct Told {
    std::string script;
    std::string module;
};

Told told(const std::vector<std::string>& argv, bool shell) {
    for (std::size_t i = 1; i < argv.size(); ++i) {
        const std::string_view word = argv[i];
        if (word.empty() || (word[0] != '-' && word[0] != '+')) return {argv[i], {}};
        if (word == "-" || word == "--") return i + 1 < argv.size() && word == "--" ? Told{argv[i + 1], {}} : Told{};
        if (shell) {
            if (!word.starts_with("--") && word.find('c') != std::string_view::npos) return {};
            if (word.ends_with('o') || word.ends_with('O')) ++i;  // -o pipefail
            continue;
        }
        if (word == "-m") return {{}, i + 1 < argv.size() ? argv[i + 1] : ""};
        if (word == "-c" || word == "-e" || word == "-p" || word == "-r" || word.starts_with("--eval")) return {};
    }
    return {};
}

/// Tools of Java are known by a class among the arguments, since they have no executable of their own.
std::string java_tool(const std::vector<std::string>& argv) {
    for (const auto& word : argv) {
        if (word.starts_with("org.gradle.")) return "gradle";
        if (word.starts_with("org.codehaus.plexus.classworlds.") || word.starts_with("org.apache.maven.")) return "mvn";
    }
    return {};
}

bool lies_in(const Program& program, const std::function<bool(const std::string&)>& in_worktree) {
    return (!program.file.empty() && in_worktree(program.file)) ||
           (!program.script.empty() && in_worktree(program.script));
}

template <class Words>
bool is_known_as(const Words& names, const Program& program) {
    return std::any_of(program.known_as.begin(), program.known_as.end(),
                       [&](const std::string& name) { return is_among(names, name); });
}

/// Returns the index of the agent's own program in `programs`, of which the topmost is the last. A script at the top
/// may be a wrapper of the agent, or the agent itself: it is the agent if it starts a program such as make.
std::size_t own_program(const std::vector<Program>& programs,
                        const std::function<bool(const std::string&)>& in_worktree) {
    const auto top = programs.size() - 1;
    bool below_script = false;
    // The caller itself is not an agent.
    for (auto i = top; i > 0; --i) {
        const auto& program = programs[i];
        if (below_script && is_runner(program) && !is_known_as(k_launchers, program)) return top;
        below_script = below_script || (program.shell && !program.script.empty());
        if (program.shell || is_runner(program)) continue;
        return lies_in(program, in_worktree) ? top : i;
    }
    return top;
}

}  // namespace

Program program_of(const std::string& exe, const std::vector<std::string>& argv, const std::string& directory) {
    Program program;
    program.file = exe;
    constexpr std::string_view k_deleted = " (deleted)";  // the kernel marks a replaced binary
    if (program.file.ends_with(k_deleted)) program.file.resize(program.file.size() - k_deleted.size());
    const auto executable = last_part(program.file);
    // A program that gives itself a title has the title in place of its arguments.
    const std::string title(last_part(argv.empty() ? "" : std::string_view(argv[0]).substr(0, argv[0].find(' '))));
    program.shell = is_among(k_shells, executable);
    program.name = executable.empty() ? title : executable;
    program.known_as = {std::string(executable), title};
    if (program.shell || is_among(k_interpreters, without_version(executable))) {
        const auto words = told(argv, program.shell);
        if (!words.script.empty()) program.script = (fs::path(directory) / words.script).lexically_normal().string();
        const auto what = !words.module.empty() ? words.module : std::string(last_part(words.script));
        if (!what.empty()) program.known_as.emplace_back(runner_of(what));
        if (!what.empty()) program.name = what;
        if (what.empty() && !title.empty() && !program.shell) program.name = title;
    }
    if (executable == "java") program.known_as.push_back(java_tool(argv));
    return program;
}

bool is_runner(const Program& program) {
    return is_known_as(k_runners, program);
}

CallChain call_chain(const std::vector<Program>& programs, const std::function<bool(const std::string&)>& in_worktree) {
    CallChain chain;
    if (programs.empty()) return chain;
    const auto own = own_program(programs, in_worktree);
    for (auto i = programs.size(); i-- > 0;) {
        const auto& program = programs[i];
        chain.text += (chain.text.empty() ? "" : " > ") + ellipsized(printable(program.name), k_name_columns);
        const bool counts = i < own && (is_runner(program) || lies_in(program, in_worktree));
        if (counts && chain.through.empty()) chain.through = ellipsized(printable(program.name), k_name_columns);
    }
    chain.text = ellipsized(chain.text, k_chain_columns);
    return chain;
}

}  // namespace orange::agents
