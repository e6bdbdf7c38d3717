#pragma once

#include <map>
#include <string>

#include "daemon/git/git.hpp"

namespace orange::git {

/// Returns variables for a reviewer's environment, so that the reviewer's git shows the real changes: no pager, hook,
/// file system monitor, external diff or text conversion of the repository's own configuration, which the worker can
/// write, and no replaced objects. Filters stay, because files in Git LFS have no diff without them. `env` is the
/// reviewer's environment so far: its GIT_CONFIG_* stay in force, and so do a pager or an external diff of the user.
///
/// If the configuration changes later, the change is reported (programs.hpp), but not switched off.
Awaitable<Result<std::map<std::string, std::string>>> reviewing_variables(Git& git, Place worktree,
                                                                          std::map<std::string, std::string> env);

}  // namespace orange::git
