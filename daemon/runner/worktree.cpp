#include "daemon/runner/worktree.hpp"

#include "common/base/try.hpp"

namespace orange {

Awaitable<Result<git::Pinned>> open_worktree(World& world, const TaskRecord& record) {
    const auto& task = record.task;
    CO_TRY(auto project, registered_project(world, task.project));
    if (!task.workspace) {
        co_return Error(ErrorCode::conflict, "task " + task.id.value + " has no workspace");
    }
    auto name = *task.workspace;
    co_return co_await world.pool.open(std::move(project), std::move(name));
}

std::optional<Path> mirror_of(const World& world, const TaskRecord& record) {
    if (!record.task.workspace || world.pool.is_replaced(*record.task.workspace)) return std::nullopt;
    return world.pool.path_of(*record.task.workspace) / record.task_file;
}

store::Copies copies_of(const World& world, const TaskRecord& record) {
    return {world.tasks.folder(record) / "TASK.md", mirror_of(world, record)};
}

}  // namespace orange
