#include "client/commands/project.hpp"
#include "client/arguments/command.hpp"

namespace orange::arguments {
namespace {

CLI::Option* setup(CLI::App& app, std::vector<std::string>& into) {
    return app
        .add_option("--setup", into,
                    "Command to run in a workspace before its agent starts, for example "
                    "--setup npm ci; write a word that begins with '-' as --setup=-x")
        ->type_name("ARG…");
}

Action project_add(CLI::App& app) {
    auto params = std::make_shared<rpc::ProjectAdd>();
    app.add_option("PATH", params->path, "Git repository; default: the one that contains this directory");
    text(app, "--name", params->name, "Name of the project; default: the folder's name");
    text(app, "--default-branch", params->default_branch, "Branch that tasks start from and are merged into");
    number(app, "--pool-size", params->pool_size, "Maximum number of workspaces, 1 to 64; default: 4");
    text(app, "--workflow", params->workflow, "Workflow of new tasks");
    text(app, "--harness", params->harness, "Harness of new tasks");
    setup(app, params->setup);
    app.footer("Example:\n  orange project add ~/src/shop --pool-size 3 --setup npm ci");
    return [params](Context& context) { return commands::project_add(context, *params); };
}

Action project_update(CLI::App& app) {
    struct Arguments {
        rpc::ProjectUpdate params;
        std::vector<std::string> setup;
        bool no_setup = false;
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
    return [a](Context& context) {
        if (!a->setup.empty() || a->no_setup) a->params.setup = a->setup;
        return commands::project_update(context, a->params);
    };
}

Action project_remove(CLI::App& app) {
    auto params = std::make_shared<rpc::ProjectRemove>();
    app.add_option("NAME", params->name, "Project; it must have no active tasks")->required();
    return [params](Context& context) { return commands::project_remove(context, *params); };
}

template <class Params, int (*command)(Context&, Params)>
Action only_project(CLI::App& app) {
    auto params = std::make_shared<Params>();
    text(app, "PROJECT,-p,--project", params->project, "Only this project");
    return [params](Context& context) { return command(context, *params); };
}

constexpr Command k_project_commands[] = {
    {"project", "add", "Register a git repository", project_add},
    {"project", "list", "List the projects", bare<commands::project_list>},
    {"project", "update", "Change a project's settings", project_update},
    {"project", "remove", "Remove a project; its repository is not changed", project_remove},
    {"workspace", "init", "Create the worktrees of a project now",
     only_project<rpc::WorkspaceInit, commands::workspace_init>},
    {"workspace", "list", "List the worktrees and their tasks",
     only_project<rpc::WorkspaceList, commands::workspace_list>},
    {"workspace", "gc", "Free and repair worktrees that no active task uses",
     only_project<rpc::WorkspaceGc, commands::workspace_gc>},
};

}  // namespace

std::span<const Command> project_commands() {
    return k_project_commands;
}

}  // namespace orange::arguments
