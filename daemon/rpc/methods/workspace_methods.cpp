#include "daemon/rpc/api.hpp"

namespace orange::rpc {
namespace {

WorkspaceReply listing(Api& api, const std::optional<std::string>& project) {
    WorkspaceReply reply;
    for (const auto& info : api.world().pool.list(project)) {
        WorkspaceView view;
        view.name = info.name;
        view.project = info.project;
        view.path = info.path.string();
        view.state = !info.problem.empty() ? "broken" : info.task.empty() ? "free" : "taken";
        if (!info.problem.empty()) view.problem = info.problem;
        if (!info.task.empty()) {
            view.task = info.task.value;
            if (const auto* record = api.world().tasks.find(info.task)) view.branch = record->task.branch;
        }
        reply.workspaces.push_back(std::move(view));
    }
    return reply;
}

Awaitable<Result<WorkspaceReply>> list(Api& api, WorkspaceList params) {
    if (params.project) {
        const auto project = co_await api.select_project(params.project, std::nullopt);
        if (!project) co_return project.error();
    }
    co_return listing(api, params.project);
}

Awaitable<Result<WorkspaceReply>> init(Api& api, WorkspaceInit params) {
    const auto project = co_await api.select_project(params.project, params.cwd);
    if (!project) co_return project.error();
    auto made = co_await api.world().pool.init(*project);
    if (!made) co_return made.error();
    auto reply = listing(api, project->name);
    reply.notes = std::move(*made);
    co_return reply;
}

Awaitable<Result<WorkspaceReply>> gc(Api& api, WorkspaceGc params) {
    auto& world = api.world();
    std::vector<Project> projects;
    if (params.project) {
        auto project = co_await api.select_project(params.project, std::nullopt);
        if (!project) co_return project.error();
        projects.push_back(std::move(*project));
    } else {
        projects = world.projects.list();
    }
    std::vector<std::string> notes;
    const std::function<bool(const TaskId&)> is_live = [&world](const TaskId& id) {
        const auto* record = world.tasks.find(id);
        // One whose lock is held may be taking a workspace right now, which its record does not say yet.
        return record && (record->task.workspace || record->intent || world.task_locks.busy(id.value));
    };
    for (const auto& project : projects) {
        auto done = co_await world.pool.gc(project, is_live);
        if (!done) co_return done.error();
        notes.insert(notes.end(), done->begin(), done->end());
        api.runner().kick(project.name);
    }
    auto reply = listing(api, params.project);
    reply.notes = std::move(notes);
    co_return reply;
}

}  // namespace

void add_workspace_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<WorkspaceList>(Access::read, "Lists the workspaces.", {not_found},
                             [&api](WorkspaceList params, Call) { return list(api, std::move(params)); });
    table.add<WorkspaceInit>(Access::human, "Makes a project's workspaces now instead of on demand.",
                             {not_found, external_failed},
                             [&api](WorkspaceInit params, Call) { return init(api, std::move(params)); });
    table.add<WorkspaceGc>(Access::human, "Frees what no task holds, and mends what disagrees with the disk.",
                           {not_found, external_failed},
                           [&api](WorkspaceGc params, Call) { return gc(api, std::move(params)); });
}

}  // namespace orange::rpc
