#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/arguments/command.hpp"

/// Finds and lists the commands of all tables, and guesses what an unknown word was meant to be.
namespace orange::arguments {

/// Returns all commands, including hidden ones, in the order of the help.
std::vector<const Command*> all_commands();
/// An empty group: `orange NAME`. "ls" is "list".
const Command* find_command(std::string_view group, std::string_view name);
bool is_group(std::string_view word);
/// Returns the command as it is typed: "orange task merge".
std::string full_name(const Command& command);

/// Returns the page of `orange --help`.
std::string overview();
/// Returns the page of `orange GROUP --help`.
std::string group_page(std::string_view group);

/// Completes a command line that omits the group task: `merge 4f2a` becomes `task merge 4f2a`. A group or another
/// command of the same name wins, except that `log` with a task, and `complete` as people and agents type it, are about
/// a task. Returns whether the group was added.
bool add_task_group(std::vector<std::string>& words);

/// Returns what may have been meant by a word that is no command of the group, such as "task list": the commands of
/// this name in other groups, or else the one with the most similar name.
std::vector<std::string> similar_commands(std::string_view group, std::string_view word);

}  // namespace orange::arguments
