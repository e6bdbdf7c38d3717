#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/commands/context.hpp"

/// Completion of command lines: the scripts that shells load, and what the daemon knows of names. Which words are
/// expected where is a matter of the command tables (client/arguments/completion.hpp).
namespace orange::commands {

struct Candidate {
    std::string word;
    std::string description;
};

enum class Known { tasks, projects, workflows, harnesses, executors, models, statuses, hosts };

/// The names that the daemon knows: a task by its id or, if `begun` is the beginning of one, by its branch. Nothing if
/// no daemon runs, and none is started; nothing if it does not answer within 100 ms. The names of hosts are read from
/// hosts.yml.
std::vector<Candidate> known_names(const Paths& paths, Known what, std::string_view begun);

/// The tasks of a host, as its last answers have them.
std::vector<Candidate> known_tasks_of(const Paths& paths, const std::string& host);

/// The script for "bash", "zsh" or "fish".
std::string_view completion_script(std::string_view shell);
int print_completion_script(const Context& context, const std::string& shell);
/// One a line, with its description behind a tab.
int print_candidates(const std::vector<Candidate>& candidates);

}  // namespace orange::commands
