#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agents/login_environment.hpp"
#include "daemon/forge/github_forge.hpp"
#include "daemon/runner/world.hpp"
#include "daemon/tmux/cli_tmux.hpp"

namespace orange {

/// `orange daemon reload` and SIGHUP: config.yml, the detach key, the environment of the user's shells, workflows and
/// projects are read again. What cannot be used leaves what was in force before it.
class Reload {
  public:
    Reload(World& world, CliTmux& tmux, GitHubForge& forge, agents::LoginEnvironment& login, std::string problem)
        : world_(world), tmux_(tmux), forge_(forge), login_(login), problem_(std::move(problem)) {}

    /// Called when config.yml is in force.
    void on_settings(std::function<void()> observer) { changed_ = std::move(observer); }

    /// Notes for the caller; an Error if config.yml is not valid.
    Awaitable<Result<std::vector<std::string>>> all();

    /// All children get the umask of config.yml, else the login shell's, else the one that the daemon was started with.
    void apply_umask() const;

    /// Says what is wrong with config.yml, as last read; empty if nothing is.
    const std::string& problem() const { return problem_; }

    /// The tmux server may have been started with another key.
    Awaitable<void> bind_detach_key();

  private:
    Result<std::vector<std::string>> settings();
    Awaitable<void> shells(std::vector<std::string>& notes);

    World& world_;
    CliTmux& tmux_;
    GitHubForge& forge_;
    agents::LoginEnvironment& login_;
    std::string problem_;
    std::function<void()> changed_ = [] {};
};

}  // namespace orange
