#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// The program that git would run, or send to, under one name.
struct Program {
    std::string hash;     ///< of its value
    std::string earlier;  ///< what versions before 0.10 recorded for the same value

    bool operator==(const Program&) const = default;
};

/// Programs that a repository's configuration makes git run, and addresses that it makes git send to: keys that name
/// programs, rewrite addresses or include files, origin's addresses, hooks and attributes. Each entry has a name
/// ("filter.lfs.clean", "hooks/pre-commit", "info/attributes") and a hash of its value. All worktrees share this
/// configuration: an agent in one worktree changes it for the others, for the user's own git and for the daemon's.
using Programs = std::map<std::string, Program>;

/// Returns the settings of the repository, with its includes, and of the worktree, without the user's and the
/// machine's. An entry is a key, a line end and a value.
Awaitable<Result<std::vector<std::string>>> own_settings(Git& git, Place worktree);

/// Returns the programs of a worktree's repository. Git is asked for the settings and for hashes of the files.
Awaitable<Result<Programs>> programs_of(Git& git, Pinned worktree);

/// Caches programs_of(), and asks git again only if a file has changed that git would read.
class RememberedPrograms {
  public:
    /// Returns programs_of(), from the cache if no file has changed.
    Awaitable<Result<Programs>> of(Git& git, Pinned worktree);

  private:
    struct Listed {
        std::string files;  ///< settled_facts() of these files
        Programs programs;
    };
    std::map<std::string, Listed> known_;  ///< by git_dir()
};

/// Returns the names of programs that changed, are new, or were removed. `before`: the hashes by name as they were
/// recorded, perhaps by an older version.
std::vector<std::string> changed_programs(const std::map<std::string, std::string>& before, const Programs& now);

}  // namespace orange::git
