#pragma once

#include "client/arguments/command.hpp"

namespace orange::arguments {

/// The options of `orange usage`.
Action usage(CLI::App& app);

/// Adds --budget of commands that create or change a task.
void budget(CLI::App& app, Text& into);

}  // namespace orange::arguments
