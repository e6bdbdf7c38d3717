#pragma once

#include <chrono>
#include <string>

#include "common/model/role.hpp"
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
};

/// Asks the user's login shell once, at the daemon's start; never fails. `own` is the daemon's environment: its SHELL
/// (else the password database's) is asked, and it is the fallback. This is the one place where a shell is started: the
/// user's shell is what is asked about, and it gets a fixed text.
Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline,
                                                      Environment own);
Awaitable<LoginEnvironment> resolve_login_environment(ProcessRunner& runner, std::chrono::milliseconds deadline);

/// The variables behind the last `marker` in a shell's output; rc files may print whatever they like before it. Empty
/// where the marker is missing.
Environment parse_environment(std::string_view output, std::string_view marker);

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
    std::string run;          ///< run id; identity goes by it
    std::string home;         ///< ORANGE_HOME
    std::string bin;          ///< folder of `orange`: first on PATH, whatever the layers say
    std::string terminal;     ///< TERM; see terminal_type()
    std::string working_dir;  ///< PWD
};

/// The complete environment of one agent. Nothing in the layers reaches ORANGE_*; from the base also GIT_*, TMUX*,
/// LD_*, DYLD_* and what describes the terminal or shell that the daemon happened to be started from are left out.
Environment agent_environment(EnvironmentLayers layers, const AgentVariables& agent);

/// TERM for a pane of Orange's tmux server: tmux-256color where this machine has it, else screen-256color.
std::string terminal_type();

}  // namespace orange::agents
