#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/arguments/command.hpp"

/// On which host a command is carried out (docs/hosts.md).
namespace orange::arguments {

std::span<const Command> host_commands();

/// The machine on which a command line is to run, as its words and the environment say.
struct Place {
    std::string host;                ///< empty: here
    bool named = false;              ///< by --host, not by ORANGE_HOST alone
    std::vector<std::string> words;  ///< all of them, for the host
};

/// Takes --host from the beginning of the words, with a --json before or behind it; else ORANGE_HOST, which an agent
/// may have got from its human.
Result<Place> take_place(std::vector<std::string>& words);

/// Commands about this machine's own list of hosts and its shell.
bool is_for_this_machine(const Command& command);

/// The host of the tasks that were parsed as `box:4f2a`: puts it into the place, and takes it from the words. No file
/// is read unless a task has a colon.
Result<void> take_hosts_of_tasks(const Command& command, const CLI::App& app, Place& place);

}  // namespace orange::arguments
