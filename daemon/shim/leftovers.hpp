#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "common/base/ids.hpp"

/// What an agent leaves behind when it ends.
namespace orange::shim {

/// Living descendants of this process (which is their subreaper, so that no double fork hides one) that are in its
/// session, or whose working directory is in `worktree`. Not what an agent started for everybody, elsewhere: a tmux
/// server, a gpg-agent. Without subreapers (macOS) descent is lost with a double fork: there it is who is in this
/// session, or in the worktree with `run` in its environment.
std::vector<pid_t> leftovers(const std::string& worktree, const RunId& run);

/// TERM to all of them, a second for their end, then KILL. Reaps what ended.
void end_leftovers(const std::string& worktree, const RunId& run);

}  // namespace orange::shim
