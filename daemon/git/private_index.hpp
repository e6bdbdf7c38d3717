#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

/// Makes commits from the files of a worktree without a change to its branch or its index.
namespace orange::git {

/// A temporary index file in git's folder for a worktree. The destructor removes the file.
class PrivateIndex {
  public:
    explicit PrivateIndex(Pinned worktree);
    PrivateIndex(const PrivateIndex&) = delete;
    PrivateIndex& operator=(const PrivateIndex&) = delete;
    ~PrivateIndex();
    /// Returns the environment that makes git use this index.
    std::map<std::string, std::string> env() const;
    /// Makes it a copy of the worktree's own index. not_found if there is none.
    Result<void> copy_own() const;
    std::string path() const;

  private:
    Pinned worktree_;
    std::string name_;
};

/// The time for `git add` if files are to be kept: gigabytes may take many minutes.
inline constexpr std::chrono::milliseconds k_add_deadline = std::chrono::hours(1);

/// Runs `git add` with a private index, with a deadline: the filters of the repository's configuration run, and may
/// hang.
Awaitable<Result<void>> add_files(Git& git, Pinned worktree, std::map<std::string, std::string> env,
                                  std::vector<std::string> options, std::string paths = {},
                                  std::chrono::milliseconds deadline = k_add_deadline);

/// Adds files to a private index, also ignored ones. `paths`: each ends with a NUL. Unlike `git add`, it runs no git in
/// a repository that has come into the place of a file.
Awaitable<Result<void>> add_only_files(Git& git, Pinned worktree, std::map<std::string, std::string> env,
                                       std::string paths);

/// Makes a commit of a tree and returns it. The author is the user as configured, or else Orange.
Awaitable<Result<std::string>> commit_tree(Git& git, Pinned worktree, std::string tree,
                                           std::vector<std::string> parents, std::string message);

}  // namespace orange::git
