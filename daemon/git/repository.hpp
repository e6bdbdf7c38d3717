#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// A project's repository, and the facts that an operation needs about it.
struct Repository {
    std::string path;     ///< of the main worktree
    std::string git_dir;  ///< absolute; all worktrees share it
    bool has_origin = false;
};

/// Remembers facts of repositories, and asks git again only if they may have changed.
class KnownRepositories {
  public:
    /// Returns the git directory of a project's repository, and whether it has an origin. Errors are those of
    /// has_origin().
    Awaitable<Result<Repository>> inspect(Git& git, std::string repo);
    /// Returns the directory that all worktrees of a repository share, as common_dir() does.
    Awaitable<Result<std::string>> git_dir(Git& git, std::string repo);
    /// Returns whether there is a remote called origin. conflict, with `details["command"]`, if core.bare or
    /// core.worktree deny the checkout: git would move a branch and leave the checkout's files behind.
    Awaitable<Result<bool>> has_origin(Git& git, std::string repo);
    /// Returns a sentence for people if the last has_origin() found remotes, but none called origin, so that Orange
    /// neither fetches nor pushes; otherwise an empty string. The sentence names the remote that `branch` follows, or
    /// else the first one, and contains the command that renames it.
    Awaitable<std::string> unused_remote(Git& git, std::string repo, std::string branch);

  private:
    struct KnownFolders {
        std::string git;     ///< identity_of_folder() of `.git`; empty if it is no folder: git is asked each time
        std::string dir;     ///< the result of git_dir()
        std::string config;  ///< facts of the settings that name an origin; empty if they are not known to name one
        std::vector<std::string> remotes;  ///< the remotes that the last has_origin() found
    };
    std::map<std::string, KnownFolders> known_;  ///< by path
};

/// Returns the repository's own core.sshCommand, which agents can write; empty if it has none, or one of several lines.
Awaitable<Result<std::string>> own_ssh_command(Git& git, std::string repo);

/// Returns the folder by which people call a repository without a working tree: the folder that contains it, if the
/// `.git` there leads to it ("project" for "project/.bare"), or else the repository itself. `git_dir`: absolute.
std::string root_of_bare(const std::string& git_dir);

/// Returns true if the git directory has an index, which only a repository with a working tree has.
bool has_checkout(const std::string& git_dir);

}  // namespace orange::git
