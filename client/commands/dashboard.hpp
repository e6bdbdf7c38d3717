#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"

namespace orange::commands {

/// Runs `orange dashboard`: replaces the process by orange-dashboard, a separate program that keeps the client small.
/// not_found names the alternatives if it is not installed.
Status dashboard(Context& context, const std::vector<std::string>& arguments);

/// Starts the dashboard for `orange` without arguments, if it is installed and a person sits at a terminal that can
/// show it. Returns false if not; the caller then shows the help. Agents never get it, though they have terminals, too.
bool dashboard_instead_of_help();

}  // namespace orange::commands
