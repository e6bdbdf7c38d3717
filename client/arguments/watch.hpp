#pragma once

#include "client/arguments/command.hpp"

/// The options of the commands in commands/watch.hpp.
namespace orange::arguments {

Action task_history(CLI::App& app);
Action task_wait(CLI::App& app);
Action task_log(CLI::App& app);
Action events(CLI::App& app);
Action log(CLI::App& app);

}  // namespace orange::arguments
