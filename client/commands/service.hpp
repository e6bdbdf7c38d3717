#pragma once

#include "client/commands/context.hpp"

namespace orange::commands {

/// Writes the user's unit, and lets systemd run the daemon from now on. Stops a running daemon first; agents continue.
/// An error if the unit was not written by Orange; it stays unchanged.
Status service_install(const Context& context);
/// Stops the service and removes the files of service_install(). Agents continue.
Status service_uninstall(const Context& context);
Status service_status(const Context& context);

}  // namespace orange::commands
