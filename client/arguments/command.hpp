#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "client/commands/task.hpp"
#include "common/rpc/task_methods.hpp"

/// The command line of `orange`: a file for each group, with a table of its commands. main.cpp finds the row of the
/// command, and its `build` adds the options to a parser for this command alone and returns the action to run after
/// parsing. Defaults, help and examples are here; the actions are in client/commands/. A wrong command line prints an
/// error with the way out, and exits with status 2.
namespace orange::arguments {

using commands::Context;
using Action = std::function<commands::Status(Context&)>;
using Text = std::optional<std::string>;

/// Shown by help as the value of an option that takes the words of a command.
inline constexpr const char* k_command_words = "ARG...";
/// Shown by help as positionals whose first word may be a task. take_hosts_of_tasks() knows which word that is.
inline constexpr const char* k_task_and_needed_text = "[ID] TEXT";
inline constexpr const char* k_task_and_text = "[ID] [TEXT]";
inline constexpr const char* k_task_and_lines = "[ID] FILE:LINE[-LINE] TEXT";

struct Command {
    const char* group;  ///< empty: `orange NAME`
    const char* name;
    const char* summary;
    Action (*build)(CLI::App&);
    bool hidden = false;
    /// The command starts programs or writes files as the user who runs it. Agents may have fewer rights than that
    /// user, so they are refused.
    bool people_only = false;
};

std::span<const Command> run_commands();  ///< `orange run`
std::span<const Command> task_commands();
std::span<const Command> project_commands();  ///< projects and workspaces
std::span<const Command> workflow_commands();
std::span<const Command> harness_commands();
std::span<const Command> executor_commands();
std::span<const Command> install_commands();  ///< the skill
std::span<const Command> daemon_commands();   ///< and what belongs to no group

/// Returns the text behind an option's name in help and manual, with a leading space: the type of its value and the
/// default. CLI11's own text differs between its versions.
std::string value_text(const CLI::Option& option);

/// Adds an option with a text. An empty text is a value, too (`--effort ""` clears the effort).
CLI::Option* text(CLI::App& app, const char* name, Text& into, const std::string& doc);
void number(CLI::App& app, const char* name, std::optional<int>& into, const char* doc);
/// Returns a validator for a range, with a message for people: CLI11's own one names the C++ type.
CLI::Validator between(std::int64_t least, std::int64_t most);
/// Returns a validator for a choice of words, with a message for people.
CLI::Validator one_of(std::vector<std::string> choices);
/// Adds the positional ID of a command about one task.
void id(CLI::App& app, Text& into);
/// Adds the positional IDs of a command that takes several tasks, and returns the option.
CLI::Option* ids(CLI::App& app, std::vector<std::string>& into);

/// Adds --file of commands that give files to an agent.
void files(CLI::App& app, commands::FileOptions& into);

/// Adds --format of commands that print tasks. `shown`: for the command that prints everything about one task.
CLI::Option* form(CLI::App& app, Text& into, bool shown = false);
constexpr const char* k_form_help =
    "--format takes {id}, {status}, {needs}, {branch}, {summary}, {project}, {worktree} and the path of any field "
    "of --json, such as {fields.harness}. \\t is a tab, \\n a line break.";

/// Builds a command that takes only a task.
template <class Params, commands::Status (*command)(Context&, Params) = commands::change<Params>>
Action only_id(CLI::App& app) {
    auto params = std::make_shared<Params>();
    id(app, params->id);
    return [params](Context& context) { return command(context, *params); };
}
/// Builds a command that takes only tasks, and calls `command` for each of them (commands::for_each_task).
template <class Params, commands::Status (*command)(Context&, Params) = commands::change<Params>>
Action only_ids(CLI::App& app) {
    auto tasks = std::make_shared<std::vector<std::string>>();
    ids(app, *tasks);
    return [tasks](Context& context) {
        return commands::for_each_task(context, *tasks, Params{},
                                       [&](const Params& params) { return command(context, params); });
    };
}
template <auto command>
Action bare(CLI::App&) {
    return [](Context& context) { return command(context); };
}

/// Adds the options of `run` and `task create` about a task's agents, which follow --harness.
void agent_options(CLI::App& app, rpc::TaskCreate& params);

}  // namespace orange::arguments
