#pragma once

#include <string_view>

namespace orange {

/// The first word of such a call, and then the home: by these a keeper is recognised.
inline constexpr std::string_view k_keep_option = "--keep";

}  // namespace orange

namespace orange::shim {

/// `orange-agent --keep HOME COMMAND [ARG…]`: runs the command that starts Orange's tmux server, and returns its exit
/// status. The server itself stays below a keeper: a child subreaper of its own session, so that a process which the
/// server started and whose parents have ended is still a descendant of it, and is taken for nobody
/// (docs/security.md). The keeper reaps, and lives until it has no child left. HOME is there to be read from outside.
///
/// Where the system has no subreaper the keeper ends together with the command.
int run_below_keeper(char* const command[]);

}  // namespace orange::shim
