#include <map>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/workspace_methods.hpp"
#include "daemon/rpc/api.hpp"

namespace orange::rpc {
namespace {

/// Returns a sentence for each project whose pool was made smaller, about the workspaces that are left over.
std::vector<std::string> surplus_notes(const std::map<std::string, std::vector<std::string>>& surplus) {
    std::vector<std::string> notes;
    notes.reserve(surplus.size());
    for (const auto& [project, names] : surplus) {
        notes.push_back(join(names, ", ") + (names.size() == 1 ? " is" : " are") + " beyond the pool size of " +
                        project +
                        ". A task keeps such a workspace, but no other task gets it. To remove those that are free:\n"
                        "  orange workspace gc");
    }
    return notes;
}

WorkspaceReply listing(Api& api, const std::optional<std::string>& project) {
    WorkspaceReply reply;
    std::map<std::string, std::vector<std::string>> surplus;
    for (const auto& info : api.world().pool.list(project)) {
        const auto* owner = api.world().projects.find(info.project);
        const bool too_many = owner && info.number > owner->pool_size;
        if (too_many) surplus[info.project].push_back(info.name);
        WorkspaceView view;
        view.name = info.name;
        view.project = info.project;
        view.path = info.path.string();
        view.state = !info.problem.empty() ? "broken" : !info.task.empty() ? "taken" : too_many ? "surplus" : "free";
        if (!info.problem.empty()) view.problem = info.problem;
        if (!info.task.empty()) {
            view.task = info.task.value;
            view.short_id = api.world().tasks.short_id(info.task);
            if (const auto* task = api.world().tasks.brief(info.task)) view.branch = task->branch;
        }
        reply.workspaces.push_back(std::move(view));
    }
    reply.notes = surplus_notes(surplus);
    return reply;
}

Awaitable<Result<WorkspaceReply>> list(Api& api, WorkspaceList params) {
    if (params.project) CO_TRY(co_await api.select_project(params.project, std::nullopt));
    co_return listing(api, params.project);
}

Awaitable<Result<WorkspaceReply>> init(Api& api, WorkspaceInit params) {
    CO_TRY(const auto project, co_await api.select_project(params.project, params.cwd));
    CO_TRY(auto made, co_await api.world().pool.init(project));
    auto reply = listing(api, project.name);
    const auto done = api.sentences(std::move(made));
    reply.notes.insert(reply.notes.begin(), done.begin(), done.end());
    co_return reply;
}

Awaitable<Result<WorkspaceReply>> gc(Api& api, WorkspaceGc params) {
    auto& world = api.world();
    std::vector<Project> projects;
    if (params.project) {
        CO_TRY(auto project, co_await api.select_project(params.project, std::nullopt));
        projects.push_back(std::move(project));
    } else {
        projects = world.projects.list();
    }
    CO_TRY(world.pool.load());
    std::vector<std::string> notes;
    for (const auto& project : projects) {
        auto done = co_await api.runner().workspaces.collect(project);
        api.runner().queue.schedule(
            project.name);  // a workspace was locked for the check; tasks that came meanwhile wait for it
        if (!done) co_return done.error();
        notes.insert(notes.end(), done->begin(), done->end());
    }
    auto reply = listing(api, params.project);
    notes = api.sentences(std::move(notes));
    reply.notes.insert(reply.notes.begin(), notes.begin(), notes.end());
    co_return reply;
}

}  // namespace

void add_workspace_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<WorkspaceList>(Access::read, "Lists the workspaces.", {not_found}, api, list);
    table.add<WorkspaceInit>(Access::human, "Makes a project's workspaces now instead of on demand.",
                             {not_found, external_failed}, api, init);
    table.add<WorkspaceGc>(Access::human, "Frees and repairs workspaces that no active task uses.",
                           {not_found, external_failed}, api, gc);
}

}  // namespace orange::rpc
