#include "client/commands/project.hpp"

#include <algorithm>

#include "client/arguments/command.hpp"

namespace orange::arguments {
namespace {

CLI::Option* setup(CLI::App& app, std::vector<std::string>& into) {
    return app
        .add_option("--setup", into,
                    "Command to run in a workspace before its agent starts, for example "
                    "--setup npm ci; give a word that begins with '--' as --setup=--x")
        ->option_text(k_command_words);
}

CLI::Option* dev(CLI::App& app, std::vector<std::string>& into) {
    return app
        .add_option("--dev", into,
                    "Command with which 'orange try' runs a task's work, for example --dev npm run dev; it finds its "
                    "port in ORANGE_PORT")
        ->option_text(k_command_words);
}

Action project_add(CLI::App& app) {
    auto params = std::make_shared<rpc::ProjectAdd>();
    app.add_option("PATH", params->path, "Git repository; default: the one that contains this directory");
    text(app, "--name", params->name, "Name of the project; default: the folder's name");
    text(app, "--default-branch", params->default_branch, "Branch that tasks start from and are merged into");
    number(app, "--pool-size", params->pool_size, "Maximum number of workspaces, 1 to 64; default: 8");
    text(app, "--workflow", params->workflow, "Workflow of new tasks");
    text(app, "--harness", params->harness, "Harness of new tasks");
    setup(app, params->setup);
    dev(app, params->dev);
    app.footer("Example:\n  orange project add ~/src/shop --pool-size 3 --setup npm ci");
    return [params](Context& context) { return commands::project_add(context, *params); };
}

/// Adds an option that takes one word each time.
void words(CLI::App& app, const char* name, const char* type, std::vector<std::string>& into, const char* doc) {
    app.add_option(name, into, doc)->type_name(type)->allow_extra_args(false);
}

std::string settings_help() {
    constexpr std::size_t k_width = 29;
    std::string text = "Settings; the first value is the default, config.yml may have another one:\n";
    for (const auto& rule : setting_rules()) {
        const std::string words = rule.name + std::string("=") + rule.values;
        text += "  " + words + std::string(k_width - std::min(words.size(), k_width - 1), ' ') + rule.doc + "\n";
    }
    return text +
           "\nExamples:\n"
           "  orange project update --set push=false\n"
           "  orange project update --check 'make test' --check 'npm run lint'";
}

Action project_update(CLI::App& app) {
    struct Arguments {
        rpc::ProjectUpdate params;
        std::vector<std::string> setup, dev, set, unset, checks;
        bool no_setup = false, no_dev = false, no_checks = false;
    };
    auto a = std::make_shared<Arguments>();
    text(app, "NAME", a->params.name, "Project; default: the one of this directory");
    text(app, "--path", a->params.path, "New path of the repository");
    text(app, "--default-branch", a->params.default_branch, "Branch that tasks start from and are merged into");
    number(app, "--pool-size", a->params.pool_size, "Maximum number of workspaces, 1 to 64");
    text(app, "--workflow", a->params.workflow, "Workflow of new tasks; '' restores the default");
    text(app, "--harness", a->params.harness, "Harness of new tasks; '' selects the first installed one");
    setup(app, a->setup);
    app.add_flag("--no-setup", a->no_setup, "Run no setup command");
    dev(app, a->dev);
    app.add_flag("--no-dev", a->no_dev, "Have no command for 'orange try'");
    words(app, "--set", "KEY=VALUE", a->set, "Give the project a value of its own for a setting");
    words(app, "--unset", "KEY", a->unset, "Use the value of config.yml for a setting again");
    words(app, "--check", "COMMAND", a->checks,
          "Command that must succeed before a review and a merge; all --check together replace the list");
    app.add_flag("--no-checks", a->no_checks, "Run no checks");
    app.footer(settings_help());
    return [a](Context& context) {
        if (!a->setup.empty() || a->no_setup) a->params.setup = a->setup;
        if (!a->dev.empty() || a->no_dev) a->params.dev = a->dev;
        if (!a->checks.empty() || a->no_checks) a->params.settings["checks"] = a->checks;
        for (const auto& key : a->unset) a->params.settings[key] = nullptr;
        return commands::project_update(context, a->params, a->set);
    };
}

Action project_remove(CLI::App& app) {
    auto params = std::make_shared<rpc::ProjectRemove>();
    app.add_option("NAME", params->name, "Project; it must have no active tasks")->required();
    app.add_flag("--clean", params->clean, "Also remove the merged branches and refs that Orange made");
    return [params](Context& context) { return commands::project_remove(context, *params); };
}

constexpr const char* k_this_project = "Project; default: the one of this directory";
constexpr const char* k_every_project = "Only this project; default: all projects";

template <class Params, commands::Status (*command)(Context&, Params), const char* const& doc>
Action only_project(CLI::App& app) {
    auto params = std::make_shared<Params>();
    text(app, "PROJECT,-p,--project", params->project, doc);
    return [params](Context& context) { return command(context, *params); };
}

constexpr Command k_project_commands[] = {
    {"project", "add", "Register a git repository", project_add},
    {"project", "list", "List the projects", bare<commands::project_list>},
    {"project", "update", "Change a project's settings", project_update},
    {"project", "remove", "Remove a project; its repository stays", project_remove},
    {"workspace", "init", "Create the worktrees of a project now",
     only_project<rpc::WorkspaceInit, commands::workspace_init, k_this_project>},
    {"workspace", "list", "List the worktrees and their tasks",
     only_project<rpc::WorkspaceList, commands::workspace_list, k_every_project>},
    {"workspace", "gc", "Free and repair worktrees that no active task uses",
     only_project<rpc::WorkspaceGc, commands::workspace_gc, k_every_project>},
};

}  // namespace

std::span<const Command> project_commands() {
    return k_project_commands;
}

}  // namespace orange::arguments
