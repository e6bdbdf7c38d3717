#pragma once

#include <map>
#include <string>

#include "daemon/git/git.hpp"

namespace orange::git {

/// What a reviewer's environment needs so that its git shows what is there: no pager, hook, file system monitor,
/// external diff or text conversion that the repository's own configuration names (the worker may have written it), and
/// no replaced objects. Filters stay: without them there is no diff of files in Git LFS. `env` is what the reviewer
/// gets anyway; what is there of GIT_CONFIG_* stays in force, and a pager or external diff of the user's own stays,
/// too.
///
/// What is put into the configuration later is told as a change (programs.hpp), not switched off.
Awaitable<Result<std::map<std::string, std::string>>> reviewing_variables(Git& git, Place worktree,
                                                                          std::map<std::string, std::string> env);

}  // namespace orange::git
