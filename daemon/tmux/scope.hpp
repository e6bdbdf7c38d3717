#pragma once

#include <string>
#include <vector>

#include "daemon/process/environment.hpp"

namespace orange::tmux {

/// The words before a command that put what it starts into a scope of its own under systemd's user manager, where the
/// end of the daemon's unit does not reach it, nor that of the login session in which the daemon was started. Empty
/// where `env` knows no user manager (XDG_RUNTIME_DIR) or no systemd-run (PATH). The scope lasts as long as its last
/// process; its name is a new one each time, since several ORANGE_HOMEs may each have a server.
std::vector<std::string> scope_words(const Environment& env);

}  // namespace orange::tmux
