#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agents/login_environment.hpp"
#include "daemon/forge/forge.hpp"
#include "daemon/runner/world.hpp"
#include "daemon/tmux/cli_tmux.hpp"

namespace orange {

/// Implements `orange daemon reload` and SIGHUP: reads config.yml, the environment of the user's shells, workflows and
/// projects again, and binds the detach key. A part that cannot be used keeps its previous values.
class Reload {
  public:
    Reload(World& world, CliTmux& tmux, Forge& forge, agents::LoginEnvironment& login, std::string problem)
        : world_(world), tmux_(tmux), forge_(forge), login_(login), problem_(std::move(problem)) {}

    /// Registers the function that is called when a new config.yml has taken effect.
    void on_settings(std::function<void()> observer) { changed_ = std::move(observer); }

    /// Reloads everything. Returns notes for the caller; an Error if config.yml is not valid.
    Awaitable<Result<std::vector<std::string>>> all();

    /// Gives all children the umask of config.yml, otherwise the login shell's, otherwise the one with which the daemon
    /// was started.
    void apply_umask() const;

    /// Returns what is wrong with config.yml, as last read; empty if it is valid.
    const std::string& problem() const { return problem_; }

    /// Binds the detach key in the tmux server, which may have been started with another key.
    Awaitable<void> bind_detach_key();

  private:
    Result<std::vector<std::string>> settings();
    Awaitable<void> shells(std::vector<std::string>& notes);

    World& world_;
    CliTmux& tmux_;
    Forge& forge_;
    agents::LoginEnvironment& login_;
    std::string problem_;
    std::function<void()> changed_ = [] {};
};

}  // namespace orange
