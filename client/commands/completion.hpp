#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/commands/context.hpp"

/// Completion of command lines: the shells' scripts, and the names that the daemon knows. The command tables decide
/// which words are expected (client/arguments/completion.hpp).
namespace orange::commands {

struct Candidate {
    std::string word;
    std::string description;
};

enum class Names { tasks, requests, attempts, projects, workflows, harnesses, executors, models, statuses, hosts };

/// Returns names that the daemon knows. A task is named by its short id if that begins with `begun`, otherwise by its
/// whole id, and, if `begun` is not empty, by its branch, too. Nothing if no daemon runs (none is started), or if it
/// does not answer within 100 ms. A request is named by its task and its number: the oldest one of each task. Names of
/// hosts come from hosts.yml.
std::vector<Candidate> known_names(const Paths& paths, Names what, std::string_view begun);

/// Returns the attempts of a task by their names, or by their short ids if a name is no single word. Nothing if no
/// daemon answers soon, or if there is no such task.
std::vector<Candidate> known_attempts(const Paths& paths, const std::string& task);

/// Returns the tasks of a host from its last answers.
std::vector<Candidate> known_tasks_of(const Paths& paths, const std::string& host);

/// Returns the script for "bash", "zsh" or "fish".
std::string_view completion_script(std::string_view shell);
Status print_completion_script(const Context& context, const std::string& shell);
/// Prints one candidate a line, with its description behind a tab.
Status print_candidates(const std::vector<Candidate>& candidates);

}  // namespace orange::commands
