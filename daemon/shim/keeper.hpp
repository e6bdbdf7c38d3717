#pragma once

#include <string_view>

namespace orange {

/// The option of such a call, followed by the home. These two words identify a keeper.
inline constexpr std::string_view k_keep_option = "--keep";

}  // namespace orange

namespace orange::shim {

/// Runs `orange-agent --keep HOME COMMAND [ARG…]`: executes the command that starts Orange's tmux server, and returns
/// its exit status. The server stays below a keeper, which is a child subreaper in its own session. A process that the
/// server started thus stays a descendant of the keeper even when its parents have ended, and is then identified as an
/// unknown caller (docs/security.md). The keeper reaps its children and ends when none is left. HOME is there to be
/// read from outside.
///
/// If the system has no subreaper, the keeper ends together with the command.
int run_below_keeper(char* const command[]);

}  // namespace orange::shim
