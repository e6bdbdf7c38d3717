#pragma once

#include <functional>
#include <string>

#include "daemon/git/git.hpp"
#include "daemon/process/environment.hpp"

namespace orange {

/// The real Git. What it guards against (faults.md G10–G16): repositories are agents' and their config is not ours, so
/// hooks, fsmonitor, ext:: and signing programs are off; nobody answers a prompt, so there is none; observing must not
/// take locks that make an agent's own git fail. HOME stays, and with it the user's name, credentials and LFS.
class CliGit final : public Git {
  public:
    /// `base`: usually scrubbed_environment(), with the user's GIT_SSH_COMMAND, GIT_SSH and GIT_SSH_VARIANT; nothing
    /// else of it that could lead git astray is passed on. `own`: variables that are, as they are. `worktrees`: a
    /// folder in which git is run in pinned worktrees alone, and refused anywhere else, so that no caller can forget
    /// it. The runner must outlive it.
    CliGit(ProcessRunner& runner, const Environment& base, Environment own = {}, std::string worktrees = {});
    /// `commands`: the values of a repository's own core.sshCommand that git may run, a line each. Any other value that
    /// a repository has is not run: agents can write it.
    void trust_ssh(std::function<std::string()> commands) { trusted_ssh_ = std::move(commands); }
    Awaitable<Result<Completed>> run(GitCommand command) override;

  private:
    ProcessRunner& runner_;
    Environment env_;
    std::string worktrees_;
    std::function<std::string()> trusted_ssh_;
};

}  // namespace orange
