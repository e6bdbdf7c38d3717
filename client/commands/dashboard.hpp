#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"

namespace orange::commands {

/// `orange dashboard`: becomes orange-dashboard, a program of its own, so that the client stays small. not_found says
/// what there is without it.
int dashboard(Context& context, const std::vector<std::string>& arguments);

/// `orange` alone: the dashboard, if a person sits at a terminal that can show it and it is installed. False: it was
/// not started, and the caller shows the help. Agents have terminals too, and never get it.
bool dashboard_instead_of_help();

}  // namespace orange::commands
