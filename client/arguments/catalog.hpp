#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/arguments/command.hpp"

/// All commands of all tables: looked up, listed, and guessed from a word that is none.
namespace orange::arguments {

/// In the order in which help shows them, hidden ones too.
std::vector<const Command*> all_commands();
/// An empty group: `orange NAME`.
const Command* find_command(std::string_view group, std::string_view name);
bool is_group(std::string_view word);
/// "orange task merge".
std::string full_name(const Command& command);

/// The page of `orange --help`.
std::string overview();
/// The page of `orange GROUP --help`.
std::string group_page(std::string_view group);

/// "; did you mean orange task list?" for a word that is no command of the group, or nothing.
std::string did_you_mean(std::string_view group, std::string_view word);

}  // namespace orange::arguments
