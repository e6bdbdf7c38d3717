#include "daemon/runner/worktree.hpp"

namespace orange {

Awaitable<Result<git::Pinned>> open_worktree(World& world, const TaskRecord& record) {
    const auto& task = record.task;
    const auto* registered = world.projects.find(task.project);
    if (!registered) co_return Error(ErrorCode::not_found, "project " + task.project + " is not registered");
    if (!task.workspace) {
        co_return Error(ErrorCode::conflict, "task " + task.id.value + " has no workspace");
    }
    auto project = *registered;
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
