#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

/// What an agent leaves behind when it ends.
namespace orange::shim {

/// Living descendants of this process (which is their subreaper, so that no double fork hides one) that are in its
/// session, or whose working directory is in `worktree`. Not what an agent started for everybody, elsewhere: a tmux
/// server, a gpg-agent.
std::vector<pid_t> leftovers(const std::string& worktree);

/// TERM to all of them, a second for their end, then KILL. Reaps what ended.
void end_leftovers(const std::string& worktree);

}  // namespace orange::shim
