#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// A project's repository, and what is asked once for an operation there.
struct Repository {
    std::string path;     ///< main worktree
    std::string git_dir;  ///< its git directory, which all worktrees share
    bool has_origin = false;
};

/// Remembers facts of repositories, and asks git again only if they may have changed.
class KnownRepositories {
  public:
    /// Returns the git directory of a project's repository, and whether it has an origin. Errors as of has_origin().
    Awaitable<Result<Repository>> inspect(Git& git, std::string repo);
    /// Returns the directory that all worktrees of a repository share, as common_dir() does.
    Awaitable<Result<std::string>> git_dir(Git& git, std::string repo);
    /// Returns whether there is a remote called origin. conflict, with `details["command"]`, if core.bare or
    /// core.worktree deny the checkout: git would move a branch and leave the checkout's files behind.
    Awaitable<Result<bool>> has_origin(Git& git, std::string repo);
    /// For people, if the last has_origin() found remotes, but none called origin, so that Orange neither fetches nor
    /// pushes: names the remote that `branch` follows, else the first, and the command that renames it. Empty
    /// otherwise.
    Awaitable<std::string> unused_remote(Git& git, std::string repo, std::string branch);

  private:
    struct Known {
        std::string git;     ///< the identity of the folder `.git`; empty if it is none: asked each time
        std::string dir;     ///< what git_dir() is then
        std::string config;  ///< facts of its settings, which name an origin; empty if they are not known to do so
        std::vector<std::string> remotes;  ///< as has_origin() found them last
    };
    std::map<std::string, Known> known_;  ///< by path
};

/// The repository's own core.sshCommand, which agents can write; empty if it has none, or one that is no single line.
Awaitable<Result<std::string>> own_ssh_command(Git& git, std::string repo);

/// The folder by which a repository without a working tree is called: the one that holds it, if its `.git` leads there
/// ("project" of "project/.bare"), else the repository itself. `git_dir`: absolute.
std::string root_of_bare(const std::string& git_dir);

/// Returns true if the git directory has an index, which only one with a working tree of its own has.
bool has_checkout(const std::string& git_dir);

}  // namespace orange::git
