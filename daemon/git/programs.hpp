#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"

namespace orange::git {

/// What a repository itself makes git run, and where it makes it send to: the keys of its configuration that name
/// programs, rewrite addresses or read further files, origin's addresses, its hooks, its attributes. By name
/// ("filter.lfs.clean", "hooks/pre-commit", "info/attributes"), with a hash of what stands there. All worktrees share
/// it: whoever works in one changes it for the others, for the user's own git and for the daemon's.
using Programs = std::map<std::string, std::string>;

/// The repository's own settings, with what it includes, and the worktree's; not the user's or the machine's. Each its
/// key, a line end, and its value.
Awaitable<Result<std::vector<std::string>>> own_settings(Git& git, Place worktree);

Awaitable<Result<Programs>> programs_of(Git& git, Pinned worktree);

/// programs_of() that asks git again only if one of the files that git would read has changed.
class RememberedPrograms {
  public:
    Awaitable<Result<Programs>> of(Git& git, Pinned worktree);

  private:
    struct Known {
        std::string files;  ///< what was there, by their facts
        Programs programs;
    };
    std::map<std::string, Known> known_;  ///< by git_dir()
};

/// The names of what is another, new or gone.
std::vector<std::string> changed_programs(const Programs& before, const Programs& now);

}  // namespace orange::git
