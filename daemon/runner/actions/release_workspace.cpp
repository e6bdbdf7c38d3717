#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/synced.hpp"

namespace orange::actions {

Awaitable<Result<void>> release_workspace(Context& context, const Action&) {
    auto& record = context.record;
    if (!record.task.workspace) co_return Result<void>{};
    const auto project = project_of(context);
    if (!project) co_return project.error();
    // An agent in a worktree that is reset under it would write into the next task's work.
    for (const Role role : {Role::reviewer, Role::worker}) {
        if (auto ended = co_await context.agents.end(record, role); !ended) co_return ended.error();
    }
    store::Copies copies;
    copies.own = context.world.tasks.folder(record) / "TASK.md";
    copies.mirror = context.world.pool.path_of(*record.task.workspace) / record.task_file;
    auto retired = co_await context.world.task_files.retire_mirror(record, copies);
    if (!retired) co_return retired.error();
    apply_synced(context.world, record, *retired);

    auto released = co_await context.world.pool.release(*project, record.task);
    if (!released) co_return released.error();
    const auto workspace = *record.task.workspace;
    if (!released->snapshot.empty()) {
        context.world.journal.write(record, "workspace.snapshot",
                                    {{"ref", released->ref}, {"commit", released->snapshot}});
    }
    for (const auto& ref : released->commits) context.world.journal.write(record, "workspace.snapshot", {{"ref", ref}});
    record.task.workspace.reset();
    std::map<std::string, Scalar> fields = {{"workspace", workspace}};
    if (record.intent) fields["tx"] = record.intent->id;
    co_return context.world.journal.write_once(record, "workspace.released", std::move(fields));
}

}  // namespace orange::actions
