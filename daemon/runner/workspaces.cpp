#include <set>

#include "daemon/log/log.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/runner.hpp"

/// Workspaces that should be free and are not: of tasks that ended while their release failed, and claims that a daemon
/// left which died before it had written anything else down.
namespace orange {

Awaitable<Result<void>> Runner::release_ended(TaskRecord& record) {
    const auto definition = definition_of(record.task);
    if (!definition) co_return definition.error();
    if (auto ended = co_await agents_.end_session(record); !ended) co_return ended.error();
    actions::Context context{world_, agents_, record, **definition, [](const std::string&) {}};
    const Action release{"release_workspace", {}, {}};
    if (auto released = co_await actions::release_workspace(context, release); !released) co_return released.error();
    record.task.attention.reset();
    co_return world_.tasks.save(record);
}

Awaitable<Result<std::vector<std::string>>> Runner::collect_workspaces(Project project) {
    std::vector<std::string> done;
    std::set<TaskId> holders;
    std::map<std::string, TaskId> claims;
    world_.tasks.each([&](const TaskRecord& record) {
        if (record.task.workspace) claims[*record.task.workspace] = record.task.id;
        if (record.task.workspace && record.task.project == project.name && store::has_ended(record.task.status)) {
            holders.insert(record.task.id);
        }
        return true;
    });
    world_.pool.adopt_claims(claims);
    for (const auto& id : holders) {
        const auto lock = co_await world_.task_locks.acquire(id.value);
        auto record = co_await settled(id);
        if (!record || !record->task.workspace) continue;
        const auto name = *record->task.workspace;
        auto released = co_await release_ended(*record);
        done.push_back(released ? name + " freed: its task " + id.value + " has ended"
                                : name + " could not be freed: " + released.error().message);
        changed_(id);
    }
    const std::function<bool(const TaskId&)> is_live = [this](const TaskId& id) {
        for (const auto& broken : world_.tasks.unreadable()) {
            if (broken.id == id.value) return true;
        }
        const auto* record = world_.tasks.find(id);
        // One whose lock is held may be taking a workspace right now, which its record does not say yet.
        return record && (record->task.workspace || record->intent || world_.task_locks.busy(id.value));
    };
    auto collected = co_await world_.pool.gc(project, is_live);
    if (!collected) co_return collected.error();
    done.insert(done.end(), collected->begin(), collected->end());
    co_return done;
}

}  // namespace orange
