#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "common/model/role.hpp"
#include "daemon/agents/program_search.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/process/process_runner.hpp"

/// The environment that agents get (docs/files.md, "An agent's environment").
namespace orange::agents {

/// The environment that a login shell gives its user: PATH, keys, language. If the shell does not give one, it is the
/// daemon's own environment.
struct LoginEnvironment {
    Environment variables;
    std::string source;             ///< "/bin/bash -l", or "the daemon's own environment"
    std::string problem;            ///< why the login shell gave none; empty: it did. `orange doctor` shows it.
    std::optional<int> umask = {};  ///< of the login shell, if it told
};

/// Queries the user's login shell, at the daemon's start and at each reload; never fails. `own` is the daemon's
/// environment: its SHELL (otherwise that of the password database) is queried, and it is the fallback. Only this code
/// starts shells: the user's shell is what is examined, and it gets a fixed text.
Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline,
                                                      Environment own);
Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline);

/// Returns the PATHs in which agents' programs are looked up. The first is that of the login shell. The second is that
/// of the same shell as an interactive one: Debian's .bashrc returns early if it is not, and nvm and npm add their
/// folders there. The third is the daemon's own, from the terminal in which `orange` started it. Never fails: a PATH
/// that could not be read has a problem.
Awaitable<std::vector<SearchPath>> search_paths(ProcessRunner& runner, std::chrono::milliseconds deadline,
                                                LoginEnvironment login, Environment own);

/// Returns the variables behind the last `marker` in a shell's output; rc files may print anything before it. Empty if
/// the marker is missing.
Environment parse_environment(std::string_view output, std::string_view marker);

/// Returns the umask in the last line before the last `marker`; nullopt if that line has none.
std::optional<int> parse_umask(std::string_view output, std::string_view marker);

/// The layers of an agent's environment. Each overrides the one before.
struct EnvironmentLayers {
    Environment base;     ///< LoginEnvironment::variables
    Environment config;   ///< env: of config.yml
    Environment project;  ///< env: of the project
    Environment harness;  ///< Launch::env
};

/// The values of an agent's own variables.
struct AgentVariables {
    std::string task;
    std::string project;
    Role role = Role::worker;
    std::string run;           ///< run id, by which callers are identified
    std::string home;          ///< ORANGE_HOME
    std::string bin;           ///< folder of `orange`: first on PATH, whatever the layers say
    std::string program_path;  ///< the PATH in which its program was found; empty: the base's
    std::string terminal;      ///< TERM; see terminal_type()
    std::string working_dir;   ///< PWD, and ORANGE_WORKSPACE
    int port = 0;              ///< the first port of its workspace; 0: none
};

/// Returns the complete environment of one agent. The layers cannot set ORANGE_*. The base also cannot set GIT_*,
/// TMUX*, LD_*, DYLD_*, or variables about the terminal or shell from which the daemon was started.
Environment agent_environment(EnvironmentLayers layers, const AgentVariables& agent);

/// Returns TERM for a pane of Orange's tmux server: tmux-256color if this machine has it, otherwise screen-256color.
std::string terminal_type();

}  // namespace orange::agents
