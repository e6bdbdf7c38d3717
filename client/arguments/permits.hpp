#pragma once

#include "client/arguments/command.hpp"

namespace orange::arguments {

/// The options of `orange allow` and `orange deny`.
Action task_allow(CLI::App& app);
Action task_deny(CLI::App& app);

/// Adds --permits of commands that create or change a task.
void permits(CLI::App& app, Text& into, const char* otherwise);

/// Returns the task that a word names: of a command that answers a request, the part without the request's number.
std::string task_named(const CLI::App& app, const std::string& word);

}  // namespace orange::arguments
