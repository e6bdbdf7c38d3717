#include "common/rpc/project_methods.hpp"
#include "common/base/branch_name.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/methods/registration.hpp"
#include "daemon/runner/pulls/pulls.hpp"
#include "daemon/runner/transitions/project_names.hpp"

namespace orange::rpc {
namespace {

std::map<std::string, SettingView> setting_views(Api& api, const Project& project) {
    const auto& world = api.world();
    const auto own = written(project.settings), defaults = written(world.settings.project_defaults);
    std::map<std::string, SettingView> views;
    const auto all = written(settings_of(world, project));
    for (const auto& [name, value] : all.items()) {
        views[name] = {value, own.contains(name) ? "project" : defaults.contains(name) ? "config.yml" : "default"};
    }
    return views;
}

ProjectView view(Api& api, const Project& project) {
    ProjectView view{project, 0, setting_views(api, project), {}};
    if (!view.workflow) view.workflow = "default";
    for (const auto& id : api.world().tasks.active()) {
        const auto record = api.world().tasks.awake(id);
        if (record && record->task.project == project.name) ++view.active_tasks;
    }
    return view;
}

Awaitable<Result<ProjectReply>> add(Api& api, ProjectAdd params) {
    const auto lock = co_await api.change_projects();
    CO_TRY(auto made, co_await new_project(api, std::move(params)));
    CO_TRY(api.world().projects.put(made.project));
    ProjectReply reply;
    reply.notes = std::move(made.notes);
    reply.project = view(api, made.project);
    co_return reply;
}

/// Repairs the workspaces of a repository that was moved, because they point at its old path.
Awaitable<std::string> repair_workspaces(Api& api, Project project) {
    auto& world = api.world();
    const auto repaired = co_await world.pool.relocate(project);
    co_return repaired ? std::string() : "its workspaces could not be repaired: " + repaired.error().message;
}

Awaitable<Result<ProjectReply>> update(Api& api, ProjectUpdate params) {
    auto& world = api.world();
    const auto lock = co_await api.change_projects();
    CO_TRY(auto project, co_await api.select_project(params.name, params.cwd));
    const auto old_size = project.pool_size;
    if (params.path) {
        CO_TRY(auto root, co_await repository_at(api, *params.path));
        if (const auto* known = world.projects.at_path(root); known && known->name != project.name) {
            co_return Error(ErrorCode::conflict, root + " is already registered as project " + known->name);
        }
        project.path = root;
    }
    if (params.default_branch) project.default_branch = branch_name(*params.default_branch);
    if (params.path || params.default_branch) {
        CO_TRY(co_await check_default_branch(api, project.path, project.default_branch));
    }
    if (params.pool_size) project.pool_size = *params.pool_size;
    CO_TRY(check_pool_size(project.pool_size));
    if (params.workflow) project.workflow = params.workflow->empty() ? std::nullopt : params.workflow;
    if (params.harness) project.harness = params.harness->empty() ? std::nullopt : params.harness;
    if (params.setup) project.setup = *params.setup;
    if (params.dev) project.dev = *params.dev;
    if (params.setup || params.dev) {
        CO_TRY(check_commands(world.files, project, "orange project update " + shell_word(project.name)));
    }
    for (const auto& [name, value] : params.settings) CO_TRY(set_setting(project.settings, name, value));
    // Check the names now, not when the first task fails.
    CO_TRY(check_names(api.world(), project));
    CO_TRY(world.projects.put(project));
    ProjectReply reply;
    if (params.default_branch) note_branch(*params.default_branch, reply.notes);
    if (params.path) {
        const auto problem = co_await repair_workspaces(api, project);
        if (!problem.empty()) reply.notes.push_back(problem);
        api.runner().queue.schedule(project.name);
    }
    if (project.pool_size > old_size) api.runner().queue.schedule(project.name);
    api.runner().budgets.look();
    api.runner().reconciler.room_changed();
    if (project.pool_size < old_size) {
        reply.notes.push_back("tasks keep their workspaces; the next task starts when fewer than " +
                              std::to_string(project.pool_size) +
                              " are in use. To remove surplus workspaces:\n  orange workspace gc");
    }
    reply.project = view(api, project);
    co_return reply;
}

Result<void> check_no_tasks(Api& api, const Project& project) {
    const auto active = view(api, project).active_tasks;
    if (active == 0) return {};
    return Error(ErrorCode::conflict, "project " + project.name + " has " +
                                          counted(static_cast<std::size_t>(active), "active task") +
                                          (active == 1 ? ". Merge or cancel it" : ". Merge or cancel them") +
                                          " first:\n  orange task list --project " + project.name);
}

/// Returns the names of the branches that were made for tasks of the project, without a commit of their own.
std::set<std::string> branches_made_for(World& world, const std::string& project) {
    std::vector<TaskId> ids;
    world.tasks.each([&](const store::Brief& brief) {
        if (brief.project.text() == project && !brief.branch.empty()) ids.push_back(brief.id);
        return true;
    });
    std::set<std::string> names;
    for (const auto& id : ids) {
        const auto record = world.tasks.read(id);
        if (record && !(*record)->branch_start.empty()) names.insert((*record)->task.branch);
    }
    return names;
}

/// Removes from the project's repository what Orange left there and what is merged. Returns notes on both.
Awaitable<Result<std::vector<std::string>>> clean_up(Api& api, Project project) {
    auto& world = api.world();
    const auto lock = co_await world.repositories.acquire(project.path);
    auto own = branches_made_for(world, project.name);
    CO_TRY(const auto cleaned, co_await world.pool.clean_up(project, std::move(own)));
    std::vector<std::string> notes = {"removed from " + project.path + ": " + std::to_string(cleaned.branches) +
                                      (cleaned.branches == 1 ? " branch" : " branches") + " that Orange made, " +
                                      counted(cleaned.refs, "ref") +
                                      " below refs/orange, and the lines for TASK.md in .git/info/exclude"};
    if (cleaned.kept > 0) {
        notes.push_back("kept there, because " + project.default_branch +
                        " does not have their commits or they are in use: " + counted(cleaned.kept, "ref") +
                        "\n  git -C " + shell_word(project.path) + " for-each-ref refs/heads refs/orange");
    }
    co_return notes;
}

Awaitable<Result<ProjectRemove::Reply>> remove(Api& api, ProjectRemove params) {
    auto& world = api.world();
    const auto lock = co_await api.change_projects();
    CO_TRY(auto project, co_await api.select_project(params.name, std::nullopt));
    CO_TRY(check_no_tasks(api, project));
    CO_TRY(co_await world.pool.remove_workspaces(project));
    ProjectRemove::Reply reply;
    if (params.clean) {
        CO_TRY(reply.notes, co_await clean_up(api, project));
    } else {
        reply.notes = {"its workspaces were removed; the repository " + project.path +
                       " and its branches are unchanged"};
    }
    CO_TRY(check_no_tasks(api, project));  // made meanwhile
    CO_TRY(world.projects.remove(project.name));
    reply.notes.push_back("its ended tasks are kept in " + (world.paths.tasks() / project.name).string());
    co_return reply;
}

/// Returns the kind of the project's origin for the list; empty if git failed.
Awaitable<std::string> place_name(Api& api, Project project) {
    const auto place = co_await pulls::place_of(api.world(), std::move(project));
    if (place) co_return place->forge ? place->forge->id : "other";
    co_return place.error().code == ErrorCode::not_found ? "none" : "";
}

Awaitable<Result<ProjectList::Reply>> list_projects(Api& api, ProjectList params, Call call) {
    ProjectList::Reply reply;
    auto projects = api.world().projects.list();
    if (!call.wall.empty()) {
        const auto* own = api.world().tasks.brief(call.wall);
        std::erase_if(projects,
                      [&](const Project& project) { return !own || project.name != std::string(own->project); });
    }
    for (const auto& project : projects) {
        auto shown = view(api, project);
        if (params.places) shown.place = co_await place_name(api, project);
        reply.projects.push_back(std::move(shown));
    }
    if (!call.wall.empty()) co_return reply;
    for (auto& problem : project_problems(api.world())) {
        reply.problems.push_back(problem.text + "\n  " + problem.command);
    }
    co_return reply;
}

}  // namespace

void add_project_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<ProjectAdd>(Access::human, "Registers a repository.", {invalid_argument, not_found, conflict}, api, add);
    table.add<ProjectUpdate>(Access::human, "Changes a project.", {invalid_argument, not_found, conflict}, api, update);
    table.add<ProjectRemove>(Access::human, "Forgets a project; its repository is untouched.", {not_found, conflict},
                             api, remove);
    table.add<ProjectList>(Access::read, "Lists the projects.", {}, api, list_projects);
}

}  // namespace orange::rpc
