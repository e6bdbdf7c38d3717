#include "daemon/agents/login_environment.hpp"

#include <pwd.h>
#include <unistd.h>

#include <filesystem>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"

namespace orange::agents {
namespace {

LoginEnvironment fallback(Environment own, std::string problem) {
    return {std::move(own), "the daemon's own environment", std::move(problem)};
}

/// What a service manager leaves out and every login has.
void add_user(Environment& variables) {
    const passwd* user = ::getpwuid(::geteuid());
    if (!user) return;
    if (user->pw_dir && *user->pw_dir) variables.emplace("HOME", user->pw_dir);
    if (user->pw_name && *user->pw_name) {
        variables.emplace("USER", user->pw_name);
        variables.emplace("LOGNAME", user->pw_name);
    }
    if (user->pw_shell && *user->pw_shell) variables.emplace("SHELL", user->pw_shell);
}

/// argv for the shell. printf is a builtin of every usual shell, fish included; env comes by its path, since a broken
/// rc file may have spoilt PATH. The marker stands in the text as two words, so that a shell that echoes its commands
/// does not print it.
std::vector<std::string> question(const std::string& shell, const std::string& marker) {
    const auto half = marker.size() / 2;
    const auto halves = "'" + marker.substr(0, half) + "' '" + marker.substr(half) + "'";
    return {shell, "-l", "-c", "printf '%s%s\\0' " + halves + "; exec /usr/bin/env -0"};
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

std::string path_with(const std::string& bin, const std::string& path) {
    std::string result = bin;
    for (const auto part : split(path, ':')) {
        if (!part.empty() && part != bin) result += ":" + std::string(part);
    }
    return result;
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

Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline,
                                                      Environment own) {
    add_user(own);
    const auto shell = own.contains("SHELL") ? own.at("SHELL") : std::string{};
    if (!shell.starts_with('/')) co_return fallback(std::move(own), "SHELL is not set to an absolute path");
    const auto marker = random_id(32);
    Command command;
    command.argv = question(shell, marker);
    command.env = without_dangerous(own);
    command.deadline = deadline;
    auto completed = co_await runner.run(std::move(command));
    if (!completed) co_return fallback(std::move(own), "asking " + shell + " -l: " + completed.error().message);
    if (!completed->ok()) {
        co_return fallback(std::move(own), shell + " -l ended with status " + std::to_string(completed->exit_status) +
                                               ": " + ellipsized(printable(trim(completed->err)), 200));
    }
    auto variables = parse_environment(completed->out, marker);
    if (!variables.contains("PATH")) co_return fallback(std::move(own), shell + " -l did not tell its environment");
    add_user(variables);
    LoginEnvironment found{std::move(variables), shell + " -l", {}};
    co_return found;
}

Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline) {
    auto own = current_environment();
    co_return co_await resolve_login_environment(runner, deadline, std::move(own));
}

Environment agent_environment(EnvironmentLayers layers, const AgentVariables& agent) {
    auto all = without_dangerous(std::move(layers.base));
    std::erase_if(all, [](const auto& entry) { return describes_the_terminal(entry.first); });
    all.erase("ORANGE_HOME");
    lay_over(all, layers.config);
    lay_over(all, layers.project);
    lay_over(all, layers.harness);
    const bool has_language = all.contains("LANG") || all.contains("LC_ALL") || all.contains("LC_CTYPE");
    if (!has_language) all["LANG"] = "C.UTF-8";  // agents draw with more than ASCII
    all.emplace("TERM", agent.terminal);
    all.emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
    if (!agent.bin.empty()) all["PATH"] = path_with(agent.bin, all["PATH"]);
    if (!agent.working_dir.empty()) all["PWD"] = agent.working_dir;
    all["ORANGE_TASK"] = agent.task;
    all["ORANGE_PROJECT"] = agent.project;
    all["ORANGE_ROLE"] = std::string(name_of(agent.role));
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
