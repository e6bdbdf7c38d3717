#pragma once

#include <span>
#include <string_view>

#include "client/arguments/command.hpp"

/// `orange completion SHELL`, and `orange complete -- WORDS…`, which the printed scripts call at each Tab.
namespace orange::arguments {

std::span<const Command> completion_commands();

/// The values of this option or positional of the group's commands are tasks.
bool names_tasks(std::string_view group, const CLI::Option& option);

}  // namespace orange::arguments
