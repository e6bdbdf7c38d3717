#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "client/commands/context.hpp"
#include "common/rpc/task_methods.hpp"

/// What can be said to `orange`: one file a group, each a table of its subcommands. A row's `build` puts the options on
/// the parser of that one subcommand and answers what to do once they are parsed. Defaults, help and examples are said
/// here; what a command does is said in commands/.
namespace orange::arguments {

using commands::Context;
using Action = std::function<int(Context&)>;
using Text = std::optional<std::string>;

/// Help shows this in place of the values of an option that takes the words of a command.
inline constexpr const char* k_command_words = "ARG...";

struct Command {
    const char* group;  ///< empty: `orange NAME`
    const char* name;
    const char* summary;
    Action (*build)(CLI::App&);
    bool hidden = false;
    /// The command starts programs or writes files as the user who runs it, so an agent, which may have fewer rights,
    /// is refused.
    bool people_only = false;
};

std::span<const Command> run_commands();  ///< `orange run`
std::span<const Command> task_commands();
std::span<const Command> project_commands();  ///< and workspaces
std::span<const Command> workflow_commands();
std::span<const Command> harness_commands();
std::span<const Command> executor_commands();
std::span<const Command> install_commands();  ///< the skill
std::span<const Command> daemon_commands();   ///< and what belongs to no group

/// Returns what help and manual show behind the name of an option, with a space before it: the type of its value and
/// its default. CLI11's own text differs between its versions.
std::string value_text(const CLI::Option& option);

/// An option with a text. An empty one is a value too (`--effort ""` takes the effort away).
CLI::Option* text(CLI::App& app, const char* name, Text& into, const char* doc);
void number(CLI::App& app, const char* name, std::optional<int>& into, const char* doc);
/// What a number has to be, in words of its own: CLI11's range says what C++ calls its type.
CLI::Validator between(std::int64_t least, std::int64_t most);
/// The same for a choice of words.
CLI::Validator one_of(std::vector<std::string> choices);
/// The positional ID of a command about one task.
void id(CLI::App& app, Text& into);
/// The same for a command that takes several tasks.
CLI::Option* ids(CLI::App& app, std::vector<std::string>& into);

/// --format of the commands that print tasks; `shown`: of the one that prints all about one.
CLI::Option* form(CLI::App& app, Text& into, bool shown = false);
constexpr const char* k_form_help =
    "--format takes {id}, {status}, {needs}, {branch}, {summary}, {project}, {worktree} and the path of any field "
    "of --json, such as {fields.harness}. \\t is a tab, \\n a line break.";

/// Subcommands that take nothing but a task.
template <class Params, int (*command)(Context&, Params)>
Action only_id(CLI::App& app) {
    auto params = std::make_shared<Params>();
    id(app, params->id);
    return [params](Context& context) { return command(context, *params); };
}
/// The same for several tasks.
template <class Params, int (*command)(Context&, Params)>
Action only_ids(CLI::App& app) {
    auto tasks = std::make_shared<std::vector<std::string>>();
    ids(app, *tasks);
    return [tasks](Context& context) {
        return commands::for_each_task(*tasks, Params{},
                                       [&](const Params& params) { return command(context, params); });
    };
}
template <int (*command)(Context&)>
Action bare(CLI::App&) {
    return [](Context& context) { return command(context); };
}

/// What `run` and `task create` say about the agents of a task, after --harness.
void agent_options(CLI::App& app, rpc::TaskCreate& params);

}  // namespace orange::arguments
