#include "common/base/try.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/branch/programs.hpp"

namespace orange::actions {

Awaitable<Result<std::vector<std::string>>> prepare_workspace(World& world, TaskRecord& record) {
    CO_TRY(auto project, registered_project(world, record.task.project));
    project.settings = settings_of(world, project);
    std::vector<std::string> exclude;
    for (const auto& name : {record.task.harness, record.task.review_harness}) {
        const auto entry = world.harnesses.find(name);
        if (!entry) continue;  // the start of the agent reports what is wrong
        exclude.insert(exclude.end(), entry->harness.exclude.begin(), entry->harness.exclude.end());
    }
    CO_TRY(auto acquired, co_await world.pool.acquire(project, record.task, std::move(exclude)));
    record.task.workspace = acquired.name;
    record.task_file = acquired.task_file;
    if (record.branch_start.empty()) record.branch_start = acquired.branch_start;
    (void)co_await note_programs(world, record);
    co_return std::move(acquired.notes);
}

/// Does nothing new in a transition, whose prepare step took the workspace before the commit.
Awaitable<Result<void>> acquire_workspace(Context& context, const Action&) {
    if (context.record.task.workspace) co_return Result<void>{};
    CO_TRY(co_await prepare_workspace(context.world, context.record));
    co_return Result<void>{};
}

}  // namespace orange::actions
