#pragma once

#include "client/commands/context.hpp"

namespace orange::commands {

/// Writes the user's unit, and lets systemd run the daemon from now on. Stops a running daemon first; agents continue.
/// An error if the unit was not written by Orange; it stays unchanged.
int service_install(const Context& context);
/// Stops the service and removes the files of service_install(). Agents continue.
int service_uninstall(const Context& context);
int service_status(const Context& context);

}  // namespace orange::commands
