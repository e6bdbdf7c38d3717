#pragma once

#include <functional>
#include <string>

#include "daemon/git/git.hpp"
#include "daemon/process/environment.hpp"

namespace orange {

/// Runs the program git. Agents can write a repository's
/// configuration, so hooks, fsmonitor, ext:: and signing programs are off. Prompts are off, because the daemon has no
/// terminal. Optional locks are off, because they would make an agent's own git fail. HOME stays, so that git finds the
/// user's name, credentials and LFS.
class CliGit final : public Git {
  public:
    /// `base`: usually scrubbed_environment(), with the user's GIT_SSH_COMMAND, GIT_SSH and GIT_SSH_VARIANT; all other
    /// variables that change what git does are removed. `own`: variables that are added unchanged. `worktrees`: a
    /// folder in which git runs only in pinned worktrees; for any other place in it run() returns conflict, so that no
    /// caller can forget to pin. The runner must outlive this object.
    CliGit(ProcessRunner& runner, const Environment& base, Environment own = {}, std::string worktrees = {});
    /// Sets the source of the trusted values of a repository's own core.sshCommand, one a line. Git runs no other
    /// value, because agents can write the repository's configuration.
    void trust_ssh(std::function<std::string()> commands) { trusted_ssh_ = std::move(commands); }
    /// Sets the source of the ssh-agent's socket, which git gets as SSH_AUTH_SOCK if it talks to a remote. The source
    /// returns an empty text if no ssh-agent answers; then SSH_AUTH_SOCK stays, and the error of a refused login says
    /// so.
    void use_ssh_agent(std::function<std::string()> socket) { ssh_agent_ = std::move(socket); }
    /// Sets how remove() removes.
    void remove_with(posix::Remover remover) { remover_ = std::move(remover); }
    Awaitable<Result<Completed>> run(GitCommand command) override;
    Result<void> remove(int folder, const std::string& name, const std::string& shown) override {
        return remover_.remove(folder, name, shown);
    }

  private:
    ProcessRunner& runner_;
    Environment env_;
    std::string worktrees_;
    std::function<std::string()> trusted_ssh_;
    std::function<std::string()> ssh_agent_;
    posix::Remover remover_;
};

}  // namespace orange
