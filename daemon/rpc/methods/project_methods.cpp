#include <filesystem>

#include "common/base/text.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/rpc/api.hpp"

namespace orange::rpc {
namespace {

constexpr int k_largest_pool = 64;

ProjectView view(Api& api, const Project& project) {
    ProjectView view;
    view.name = project.name;
    view.path = project.path;
    view.default_branch = project.default_branch;
    view.pool_size = project.pool_size;
    view.workflow = project.workflow.value_or("default");
    view.harness = project.harness;
    view.setup = project.setup;
    view.env = project.env;
    for (const auto& id : api.world().tasks.active()) {
        const auto* record = api.world().tasks.find(id);
        if (record && record->task.project == project.name) ++view.active_tasks;
    }
    return view;
}

Result<void> check_pool_size(int size) {
    if (size >= 1 && size <= k_largest_pool) return {};
    return Error{ErrorCode::invalid_argument, "pool size must be from 1 to 64", {}};
}

/// Workflow and harness are looked up when they are named, not when the first task fails.
Result<void> check_names(Api& api, const Project& project) {
    if (project.workflow) {
        if (auto found = api.world().workflows.find(*project.workflow); !found) return found.error();
    }
    if (project.harness) {
        if (auto found = api.world().harnesses.find(*project.harness); !found) return found.error();
    }
    return {};
}

Awaitable<Result<std::string>> repository_at(Api& api, std::string path) {
    std::error_code error;
    if (path.empty() || path.front() != '/') {
        co_return Error{ErrorCode::invalid_argument, "the path must be absolute: \"" + path + "\"", {}};
    }
    if (!std::filesystem::is_directory(path, error)) {
        co_return Error{ErrorCode::not_found, "there is no directory " + path, {}};
    }
    if (api.world().pool.project_at(path)) {
        co_return Error{ErrorCode::invalid_argument, path + " is a workspace of Orange's own", {}};
    }
    co_return co_await git::main_worktree(api.world().git, path);
}

Awaitable<Result<void>> check_default_branch(Api& api, std::string repo, std::string branch) {
    for (const char* prefix : {"refs/heads/", "refs/remotes/origin/"}) {
        const auto commit = co_await git::commit_of(api.world().git, repo, prefix + branch);
        if (!commit) co_return commit.error();
        if (!commit->empty()) co_return Result<void>{};
    }
    co_return Error{ErrorCode::not_found, repo + " has no branch \"" + branch + "\"", {}};
}

std::string unused_name(Api& api, const std::string& wanted) {
    auto name = wanted;
    for (int n = 2; api.world().projects.find(name); ++n) name = wanted + "-" + std::to_string(n);
    return name;
}

Awaitable<Result<ProjectReply>> add(Api& api, ProjectAdd params) {
    auto& world = api.world();
    auto root = co_await repository_at(api, params.path);
    if (!root) co_return root.error();
    if (const auto* known = world.projects.at_path(*root)) {
        co_return Error{ErrorCode::conflict, *root + " is registered already, as " + known->name, {}};
    }
    Project project;
    project.path = *root;
    project.name = params.name ? *params.name
                               : unused_name(api, project_name_from(std::filesystem::path(*root).filename().string()));
    if (auto fine = check_project_name(project.name); !fine) co_return fine.error();
    if (world.projects.find(project.name)) {
        co_return Error{
            ErrorCode::conflict, "there is a project " + project.name + " already; choose another --name", {}};
    }
    if (params.default_branch) {
        project.default_branch = *params.default_branch;
    } else {
        auto found = co_await git::default_branch(world.git, *root);
        if (!found) co_return found.error();
        project.default_branch = *found;
    }
    if (auto fine = co_await check_default_branch(api, *root, project.default_branch); !fine) co_return fine.error();
    project.pool_size = params.pool_size.value_or(project.pool_size);
    if (auto fine = check_pool_size(project.pool_size); !fine) co_return fine.error();
    project.workflow = params.workflow;
    project.harness = params.harness;
    project.setup = params.setup;
    if (auto fine = check_names(api, project); !fine) co_return fine.error();
    if (auto stored = world.projects.put(project); !stored) co_return stored.error();
    ProjectReply reply;
    reply.project = view(api, project);
    co_return reply;
}

Awaitable<Result<ProjectReply>> update(Api& api, ProjectUpdate params) {
    auto& world = api.world();
    auto found = co_await api.select_project(params.name, params.cwd);
    if (!found) co_return found.error();
    auto project = *found;
    const auto old_size = project.pool_size;
    if (params.path) {
        auto root = co_await repository_at(api, *params.path);
        if (!root) co_return root.error();
        if (const auto* known = world.projects.at_path(*root); known && known->name != project.name) {
            co_return Error{ErrorCode::conflict, *root + " is registered already, as " + known->name, {}};
        }
        project.path = *root;
    }
    if (params.default_branch) project.default_branch = *params.default_branch;
    if (params.path || params.default_branch) {
        auto fine = co_await check_default_branch(api, project.path, project.default_branch);
        if (!fine) co_return fine.error();
    }
    if (params.pool_size) project.pool_size = *params.pool_size;
    if (auto fine = check_pool_size(project.pool_size); !fine) co_return fine.error();
    if (params.workflow) project.workflow = params.workflow->empty() ? std::nullopt : params.workflow;
    if (params.harness) project.harness = params.harness->empty() ? std::nullopt : params.harness;
    if (params.setup) project.setup = *params.setup;
    if (auto fine = check_names(api, project); !fine) co_return fine.error();
    if (auto stored = world.projects.put(project); !stored) co_return stored.error();
    ProjectReply reply;
    if (project.pool_size > old_size) api.runner().kick(project.name);
    if (project.pool_size < old_size) {
        reply.notes.push_back("workspaces beyond the new size stay until they are free; then: orange workspace gc");
    }
    reply.project = view(api, project);
    co_return reply;
}

Awaitable<Result<ProjectRemove::Reply>> remove(Api& api, ProjectRemove params) {
    auto& world = api.world();
    auto project = co_await api.select_project(params.name, std::nullopt);
    if (!project) co_return project.error();
    if (const auto active = view(api, *project).active_tasks; active > 0) {
        co_return Error{ErrorCode::conflict,
                        project->name + " has " + counted(static_cast<std::size_t>(active), "active task") +
                            "; merge or cancel first (orange task list --project " + project->name + ")",
                        {}};
    }
    if (auto freed = co_await world.pool.remove_all(*project); !freed) co_return freed.error();
    if (auto removed = world.projects.remove(project->name); !removed) co_return removed.error();
    ProjectRemove::Reply reply;
    reply.notes = {"its workspaces are gone; the repository " + project->path + " and its branches are untouched",
                   "its ended tasks are kept in " + (world.paths.tasks() / project->name).string()};
    co_return reply;
}

Awaitable<Result<ProjectList::Reply>> list(Api& api) {
    ProjectList::Reply reply;
    for (const auto& project : api.world().projects.list()) reply.projects.push_back(view(api, project));
    co_return reply;
}

}  // namespace

void add_project_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<ProjectAdd>(Access::human, "Registers a repository.", {invalid_argument, not_found, conflict},
                          [&api](ProjectAdd params, Call) { return add(api, std::move(params)); });
    table.add<ProjectUpdate>(Access::human, "Changes a project.", {invalid_argument, not_found, conflict},
                             [&api](ProjectUpdate params, Call) { return update(api, std::move(params)); });
    table.add<ProjectRemove>(Access::human, "Forgets a project; its repository is untouched.", {not_found, conflict},
                             [&api](ProjectRemove params, Call) { return remove(api, std::move(params)); });
    table.add<ProjectList>(Access::read, "Lists the projects.", {},
                           [&api](const ProjectList&, Call) { return list(api); });
}

}  // namespace orange::rpc
