#include "client/commands/project.hpp"
#include "client/arguments/command.hpp"

namespace orange::arguments {
namespace {

CLI::Option* setup(CLI::App& app, std::vector<std::string>& into) {
    return app
        .add_option("--setup", into,
                    "Command run in a workspace before its agent: --setup npm ci; a word that "
                    "begins with '-' as --setup=-x")
        ->type_name("ARG…");
}

Action project_add(CLI::App& app) {
    auto params = std::make_shared<rpc::ProjectAdd>();
    app.add_option("PATH", params->path, "A git repository; else the one that this directory is in");
    text(app, "--name", params->name, "Its name; the folder's where absent");
    text(app, "--default-branch", params->default_branch, "What tasks begin at and are merged into");
    number(app, "--pool-size", params->pool_size, "At most so many workspaces, 1 to 64; 2 where absent");
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
    text(app, "NAME", a->params.name, "The project; else the one that this directory is in");
    text(app, "--path", a->params.path, "Where the repository is now");
    text(app, "--default-branch", a->params.default_branch, "What tasks begin at and are merged into");
    number(app, "--pool-size", a->params.pool_size, "At most so many workspaces, 1 to 64");
    text(app, "--workflow", a->params.workflow, "Workflow of new tasks; empty: default");
    text(app, "--harness", a->params.harness, "Harness of new tasks; empty: first installed");
    setup(app, a->setup);
    app.add_flag("--no-setup", a->no_setup, "No command before an agent");
    return [a](Context& context) {
        if (!a->setup.empty() || a->no_setup) a->params.setup = a->setup;
        return commands::project_update(context, a->params);
    };
}

Action project_remove(CLI::App& app) {
    auto params = std::make_shared<rpc::ProjectRemove>();
    app.add_option("NAME", params->name, "The project; it must have no active task")->required();
    return [params](Context& context) { return commands::project_remove(context, *params); };
}

template <class Params, int (*command)(Context&, Params)>
Action only_project(CLI::App& app) {
    auto params = std::make_shared<Params>();
    text(app, "PROJECT,-p,--project", params->project, "Only this project's");
    return [params](Context& context) { return command(context, *params); };
}

constexpr Command k_project_commands[] = {
    {"project", "add", "Register a git repository", project_add},
    {"project", "list", "All projects", bare<commands::project_list>},
    {"project", "update", "Change a project's settings", project_update},
    {"project", "remove", "Forget a project", project_remove},
    {"workspace", "init", "Make the pool's worktrees now", only_project<rpc::WorkspaceInit, commands::workspace_init>},
    {"workspace", "list", "The worktrees and who has them", only_project<rpc::WorkspaceList, commands::workspace_list>},
    {"workspace", "gc", "Free what no live task holds", only_project<rpc::WorkspaceGc, commands::workspace_gc>},
};

}  // namespace

std::span<const Command> project_commands() {
    return k_project_commands;
}

}  // namespace orange::arguments
