#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

/// Commits of what is in a worktree, of which neither its branch nor its index knows.
namespace orange::git {

/// An index file of Orange's own in git's folder for a worktree. It is removed with this object.
class PrivateIndex {
  public:
    explicit PrivateIndex(Pinned worktree);
    PrivateIndex(const PrivateIndex&) = delete;
    PrivateIndex& operator=(const PrivateIndex&) = delete;
    ~PrivateIndex();
    /// Returns the environment that makes git use this index.
    std::map<std::string, std::string> env() const;
    const std::string& name() const { return name_; }

  private:
    Pinned worktree_;
    std::string name_;
};

/// Runs `git add` with a private index. Gigabytes of files may take many minutes.
Awaitable<Result<void>> add_files(Git& git, Pinned worktree, std::map<std::string, std::string> env,
                                  std::vector<std::string> options, std::string paths = {});

/// The commit of a tree. The author is the user as configured, else Orange.
Awaitable<Result<std::string>> commit_tree(Git& git, Pinned worktree, std::string tree,
                                           std::vector<std::string> parents, std::string message);

}  // namespace orange::git
