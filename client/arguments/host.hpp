#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/arguments/command.hpp"

/// Finds the host on which a command runs (docs/hosts.md).
namespace orange::arguments {

std::span<const Command> host_commands();

/// The machine for a command line, from its words and the environment.
struct Place {
    std::string host;                ///< empty: this machine
    bool named = false;              ///< given by --host, not only by ORANGE_HOST
    std::vector<std::string> words;  ///< all words, for the command on the host
    std::vector<std::string> files;  ///< paths here, which take_files() took from the words
};

/// Removes --host, with a --json before or behind it, from the beginning of the words. Without --host it uses
/// ORANGE_HOST, which an agent may have inherited from its human.
Result<Place> take_place(std::vector<std::string>& words);

/// Returns true for commands about this machine's list of hosts and its shell.
bool is_for_this_machine(const Command& command);

/// Finds the host of tasks that were given as `box:4f2a`, stores it in `place`, and removes it from the words. Reads no
/// file unless a task contains a colon.
Result<void> take_hosts_of_tasks(const Command& command, const CLI::App& app, Place& place);

/// Takes --file out of the words for a host: the files are of this machine.
void take_files(const CLI::App& app, Place& place);

/// Adds to the error of a command that did not find a task here which hosts have had it in their last answers, with the
/// command line for there. Other errors stay as they are.
Error with_hosts_of_task(const Command& command, const CLI::App& app, const Place& place, Error error);

}  // namespace orange::arguments
