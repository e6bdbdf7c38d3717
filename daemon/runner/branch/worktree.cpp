#include "daemon/runner/branch/branch.hpp"

#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/placing/walls.hpp"

namespace orange {

Awaitable<Result<git::Pinned>> open_worktree(World& world, const TaskRecord& record, Commits commits) {
    const auto& task = record.task;
    CO_TRY(auto project, registered_project(world, task.project));
    if (!task.workspace) {
        co_return Error(ErrorCode::conflict, "task " + task.id.value + " has no workspace");
    }
    auto name = *task.workspace;
    auto opened = co_await world.pool.open(std::move(project), std::move(name));
    if (!opened) co_return opened;
    const auto worktree = *opened;
    auto copy = task;
    const auto taken = co_await walls::take_over(world, std::move(copy), worktree);
    if (!taken) log::warn("walls", taken.error().message, {{"task", record.task.id.value}});
    if (!taken && commits == Commits::must_be_taken_over) co_return taken.error();
    co_return opened;
}

std::optional<Path> mirror_of(const World& world, const TaskRecord& record) {
    if (!record.task.workspace || world.pool.is_replaced(*record.task.workspace)) return std::nullopt;
    return world.pool.path_of(*record.task.workspace) / record.task_file;
}

store::Copies copies_of(const World& world, const TaskRecord& record) {
    return {world.tasks.folder(record) / "TASK.md", mirror_of(world, record)};
}

}  // namespace orange
