#include "daemon/agents/login_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "daemon/process/umask.hpp"

namespace orange::agents {
namespace {

constexpr const char* k_own_environment = "the daemon's own environment";
constexpr std::chrono::seconds k_user_deadline{5};

LoginEnvironment fallback(Environment own, std::string problem) {
    return {std::move(own), k_own_environment, std::move(problem)};
}

/// The variables, and the fields of a line of passwd that have them.
constexpr std::pair<const char*, std::size_t> k_of_user[] = {{"HOME", 5}, {"USER", 0}, {"LOGNAME", 0}, {"SHELL", 6}};

/// Adds variables that every login has and a service manager omits. Only the system's own programs know every user: a
/// directory service may have them.
Awaitable<Environment> with_user(ProcessRunner& runner, Environment variables) {
    const auto is_there = [&](const auto& each) { return variables.contains(each.first); };
    if (std::ranges::all_of(k_of_user, is_there)) co_return variables;
    Command command;
    command.argv = {"getent", "passwd", std::to_string(::geteuid())};
    command.env = without_dangerous(variables);
    command.deadline = k_user_deadline;
    const auto told = co_await runner.run(std::move(command));
    const auto fields = split(told && told->ok() ? trim(told->out) : std::string_view(), ':');
    if (fields.size() != 7) co_return variables;
    for (const auto& [name, field] : k_of_user) {
        if (!fields[field].empty()) variables.emplace(name, fields[field]);
    }
    co_return variables;
}

/// Returns the argv for the shell: `flags`, then the commands. printf is a builtin of every usual shell, fish included.
/// env has its whole path, because a broken rc file may have spoilt PATH. The marker is written as two words, so that a
/// shell that echoes its commands does not print it.
std::vector<std::string> question(const std::string& shell, const std::string& flags, const std::string& marker) {
    const auto half = marker.size() / 2;
    const auto halves = "'" + marker.substr(0, half) + "' '" + marker.substr(half) + "'";
    std::vector<std::string> argv = {shell};
    for (const auto flag : split(flags, ' ')) argv.emplace_back(flag);
    argv.insert(argv.end(), {"-c", "echo; umask; printf '%s%s\\0' " + halves + "; exec /usr/bin/env -0"});
    return argv;
}

bool describes_the_terminal(std::string_view name) {
    for (const std::string_view known : {"COLUMNS", "LINES", "TERM", "TERMCAP", "TERM_PROGRAM", "TERM_PROGRAM_VERSION",
                                         "WINDOWID", "STY", "SHLVL", "PWD", "OLDPWD", "_"}) {
        if (name == known) return true;
    }
    return false;
}

void lay_over(Environment& under, const Environment& layer) {
    for (const auto& [name, value] : layer) {
        if (!name.starts_with("ORANGE_")) under[name] = value;
    }
}

struct Answer {
    Environment variables;
    std::optional<int> umask;
};

/// Returns the environment of the shell with these flags; an Error says why there is none.
Awaitable<Result<Answer>> ask(ProcessRunner& runner, std::chrono::milliseconds deadline, Environment own,
                              std::string flags) {
    const auto shell = own.contains("SHELL") ? own.at("SHELL") : std::string{};
    const auto unavailable = [](std::string why) { return Error(ErrorCode::unavailable, std::move(why)); };
    if (!shell.starts_with('/')) co_return unavailable("SHELL is not set to an absolute path");
    const auto marker = random_id(32);
    const auto asked = shell + " " + flags;
    Command command;
    command.argv = question(shell, flags, marker);
    command.env = without_dangerous(own);
    command.deadline = deadline;
    command.umask = process::umask_at_start();
    command.shown = asked;
    auto completed = co_await runner.run(std::move(command));
    if (!completed) co_return unavailable("asking " + asked + ": " + completed.error().message);
    if (!completed->ok()) {
        co_return unavailable(asked + " ended with status " + std::to_string(completed->exit_status) + ": " +
                              ellipsized(printable(trim(completed->err)), 200));
    }
    auto variables = parse_environment(completed->out, marker);
    if (!variables.contains("PATH")) co_return unavailable(asked + " did not tell its environment");
    co_return Answer{std::move(variables), parse_umask(completed->out, marker)};
}

}  // namespace

Environment parse_environment(std::string_view output, std::string_view marker) {
    Environment variables;
    const auto at = output.rfind(marker);
    if (marker.empty() || at == std::string_view::npos) return variables;
    for (const auto entry : split(output.substr(at + marker.size()), '\0')) {
        const auto equals = entry.find('=');
        if (equals == std::string_view::npos || equals == 0) continue;
        variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return variables;
}

std::optional<int> parse_umask(std::string_view output, std::string_view marker) {
    const auto at = output.rfind(marker);
    if (marker.empty() || at == std::string_view::npos) return std::nullopt;
    const auto before = trim(output.substr(0, at));
    const auto line_end = before.rfind('\n');
    return process::umask_from(line_end == std::string_view::npos ? before : before.substr(line_end + 1));
}

Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline,
                                                      Environment own) {
    own = co_await with_user(runner, std::move(own));
    auto asking = own;
    auto answer = co_await ask(runner, deadline, std::move(asking), "-l");
    if (!answer) co_return fallback(std::move(own), answer.error().message);
    for (const auto& [name, field] : k_of_user) {
        if (own.contains(name)) answer->variables.emplace(name, own.at(name));
    }
    LoginEnvironment found{std::move(answer->variables), own["SHELL"] + " -l", {}, answer->umask};
    co_return found;
}

Awaitable<std::vector<SearchPath>> search_paths(ProcessRunner& runner, std::chrono::milliseconds deadline,
                                                LoginEnvironment login, Environment own) {
    std::vector<SearchPath> paths = {{login.source, path_in(login.variables), {}}};
    if (!login.problem.empty()) co_return paths;  // the interactive shell would fail in the same way
    own = co_await with_user(runner, std::move(own));
    SearchPath interactive{own["SHELL"] + " -l -i", {}, {}};
    auto asking = own;
    const auto answer = co_await ask(runner, deadline, std::move(asking), "-l -i");
    if (answer) interactive.path = path_in(answer->variables);
    if (!answer) interactive.problem = answer.error().message;
    paths.push_back(std::move(interactive));
    paths.push_back({k_own_environment, path_in(own), {}});
    co_return paths;
}

Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline) {
    auto own = current_environment();
    co_return co_await resolve_login_environment(runner, deadline, std::move(own));
}

Environment agent_environment(EnvironmentLayers layers, const AgentVariables& agent) {
    auto all = without_dangerous(std::move(layers.base));
    std::erase_if(all, [](const auto& entry) { return describes_the_terminal(entry.first); });
    all.erase("ORANGE_HOME");
    if (!agent.program_path.empty()) all["PATH"] = joined_path(agent.program_path, path_in(all));
    lay_over(all, layers.config);
    lay_over(all, layers.project);
    lay_over(all, layers.harness);
    const bool has_language = all.contains("LANG") || all.contains("LC_ALL") || all.contains("LC_CTYPE");
    if (!has_language) all["LANG"] = "C.UTF-8";  // agents draw with more than ASCII
    all.emplace("TERM", agent.terminal);
    // A layer with a PATH of its own decides what comes first, and must not remove the interpreter.
    all["PATH"] = joined_path(agent.bin, joined_path(path_in(all), agent.program_path));
    if (!agent.working_dir.empty()) all["PWD"] = all["ORANGE_WORKSPACE"] = agent.working_dir;
    if (agent.port != 0) all["ORANGE_PORT"] = std::to_string(agent.port);
    all["ORANGE_TASK"] = agent.task;
    all["ORANGE_PROJECT"] = agent.project;
    all["ORANGE_ROLE"] = name_text(agent.role);
    all["ORANGE_HOME"] = agent.home;
    if (!agent.run.empty()) all["ORANGE_RUN"] = agent.run;
    return all;
}

std::string terminal_type() {
    for (const char* folder : {"/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo"}) {
        std::error_code error;
        if (std::filesystem::exists(std::filesystem::path(folder) / "t" / "tmux-256color", error))
            return "tmux-256color";
    }
    return "screen-256color";
}

}  // namespace orange::agents
