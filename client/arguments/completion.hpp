#pragma once

#include <span>

#include "client/arguments/command.hpp"

/// `orange completion SHELL`, and `orange complete -- WORDS…`, which the printed scripts call at each Tab.
namespace orange::arguments {

std::span<const Command> completion_commands();

}  // namespace orange::arguments
