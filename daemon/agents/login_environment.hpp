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

/// What a login shell gives its user: PATH, keys, language; or, where that cannot be had, the daemon's own environment.
struct LoginEnvironment {
    Environment variables;
    std::string source;   ///< "/bin/bash -l", or "the daemon's own environment"
    std::string problem;  ///< why the login shell's could not be had; empty: it could. `orange doctor` shows it.
    std::optional<int> umask = {};  ///< of the login shell, if it told
};

/// Asks the user's login shell, at the daemon's start and at each reload; never fails. `own` is the daemon's
/// environment: its SHELL (else the password database's) is asked, and it is the fallback. Here alone shells are
/// started: the user's shell is what is asked about, and it gets a fixed text.
Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline,
                                                      Environment own);
Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline);

/// The PATHs in which agents' programs are looked up: the login shell's; that of the same shell when it is interactive,
/// since Debian's .bashrc returns early where it is not, and nvm and npm add their folders there; the daemon's own,
/// which is that of the terminal where `orange` started it. Never fails: one that could not be had says why.
Awaitable<std::vector<SearchPath>> search_paths(ProcessRunner& runner, std::chrono::milliseconds deadline,
                                                LoginEnvironment login, Environment own);

/// The variables behind the last `marker` in a shell's output; rc files may print whatever they like before it. Empty
/// where the marker is missing.
Environment parse_environment(std::string_view output, std::string_view marker);

/// The umask, in the last line before the last `marker`; nothing if that line is none.
std::optional<int> parse_umask(std::string_view output, std::string_view marker);

/// What is laid over the base, in this order, each overriding the one before.
struct EnvironmentLayers {
    Environment base;     ///< LoginEnvironment::variables
    Environment config;   ///< env: of config.yml
    Environment project;  ///< env: of the project
    Environment harness;  ///< Launch::env
};

/// Who the agent is.
struct AgentVariables {
    std::string task;
    std::string project;
    Role role = Role::worker;
    std::string run;           ///< run id; identity goes by it
    std::string home;          ///< ORANGE_HOME
    std::string bin;           ///< folder of `orange`: first on PATH, whatever the layers say
    std::string program_path;  ///< the PATH that its program was found in; empty: the base's
    std::string terminal;      ///< TERM; see terminal_type()
    std::string working_dir;   ///< PWD, and ORANGE_WORKSPACE
    int port = 0;              ///< the first of its workspace; 0: none
};

/// The complete environment of one agent. Nothing in the layers reaches ORANGE_*; from the base also GIT_*, TMUX*,
/// LD_*, DYLD_* and what describes the terminal or shell that the daemon happened to be started from are left out.
Environment agent_environment(EnvironmentLayers layers, const AgentVariables& agent);

/// TERM for a pane of Orange's tmux server: tmux-256color where this machine has it, else screen-256color.
std::string terminal_type();

}  // namespace orange::agents
