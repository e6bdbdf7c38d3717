#pragma once

#include "client/commands/context.hpp"

namespace orange::commands {

/// Writes the user's unit, and lets systemd run the daemon from now on. A daemon that runs already is stopped first;
/// agents continue. A unit that somebody else wrote stays, and is an error.
int service_install(const Context& context);
/// Stops the service and removes what service_install() wrote. Agents continue.
int service_uninstall(const Context& context);
int service_status(const Context& context);

}  // namespace orange::commands
