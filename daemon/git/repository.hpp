#pragma once

#include <map>
#include <string>

#include "daemon/git/git.hpp"

namespace orange::git {

/// A project's repository, and what is asked once for an operation there.
struct Repository {
    std::string path;     ///< main worktree
    std::string git_dir;  ///< its git directory, which all worktrees share
    bool has_origin = false;
};

/// What was asked of repositories before; asked again only if it may have changed.
class KnownRepositories {
  public:
    Awaitable<Result<Repository>> look(Git& git, std::string repo);
    /// What all worktrees of a repository share: as common_dir().
    Awaitable<Result<std::string>> git_dir(Git& git, std::string repo);
    Awaitable<Result<bool>> has_origin(Git& git, std::string repo);

  private:
    struct Known {
        std::string git;     ///< the identity of the folder `.git`; empty if it is none: asked each time
        std::string dir;     ///< what git_dir() is then
        std::string config;  ///< facts of its `config`, which names an origin; empty if that is not known to do so
    };
    std::map<std::string, Known> known_;  ///< by path
};

}  // namespace orange::git
