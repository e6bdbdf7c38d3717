#pragma once

#include <span>
#include <string_view>

#include "client/arguments/command.hpp"

/// `orange completion SHELL` prints a script, which calls `orange complete -- WORDS…` at each Tab.
namespace orange::arguments {

std::span<const Command> completion_commands();

/// Returns true if the values of this option or positional name tasks.
bool names_tasks(std::string_view group, const CLI::Option& option);

}  // namespace orange::arguments
