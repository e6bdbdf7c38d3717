#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/runner.hpp"

/// What is done for a task that nobody asked for: it is resumed, its copies of TASK.md are brought in step, its agents'
/// dialogs are noticed, its messages delivered.
namespace orange {

Awaitable<void> Runner::resume(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record) co_return;
    const bool young = record->runs.empty() && !record->task.workspace;
    if (auto told = young ? tell_created(*record) : Result<void>{}; !told) log::warn("runner", told.error().message);
    co_await agents_.settle_starting(*record);
    if (record->intent) {
        log::info("runner", "resuming an interrupted transition",
                  {{"task", id.value}, {"from", record->intent->from}, {"to", record->intent->to}});
        const auto definition = definition_of(record->task);
        if (definition) {
            co_await finish(*record, *definition);
        } else {
            record->task.attention = "an interrupted transition cannot be finished: " + definition.error().message;
            if (auto saved = world_.tasks.save(*record); !saved) log::error("runner", saved.error().message);
        }
        co_return;
    }
    if (auto stepped = co_await step_bodies(*record); !stepped) log::warn("runner", stepped.error().message);
    changed_(id);
    if (record->merge && record->merge->unfinished()) co_await merges_.resume(std::move(*record));
}

Awaitable<void> Runner::settle_starting(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record || record->intent) co_return;
    const auto before = record->runs;
    co_await agents_.settle_starting(*record);
    if (record->runs != before) changed_(id);
}

Awaitable<void> Runner::sync_soon(TaskId id) {
    co_await async::sleep(std::chrono::milliseconds(300));
    syncing_soon_.erase(id);
    co_await body_changed(id);
}

Awaitable<void> Runner::look_for_dialogs(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (record) co_await mark_dialogs(*record);
}

Awaitable<void> Runner::mark_dialogs(TaskRecord& record) {
    if (record.task.attention || record.intent) co_return;
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (!agents_.alive(record, role)) continue;
        if (!co_await agents_.shows_dialog(record, role)) continue;
        const auto& id = record.task.id;
        record.task.attention = "the " + std::string(name_of(role)) +
                                " waits for an answer in its window: orange task "
                                "attach " +
                                id.value;
        if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
        changed_(id);
        co_return;
    }
}

Awaitable<void> Runner::body_changed(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record) co_return;
    if (auto stepped = co_await step_bodies(*record); !stepped) {
        log::warn("runner", stepped.error().message, {{"task", id.value}});
    }
}

bool Runner::waits_too_long(const TaskId& id, const Message& message) {
    const auto now = std::chrono::steady_clock::now();
    auto& undelivered = undelivered_[id];
    if (undelivered.message != message.id) undelivered = {message.id, now};
    return now - undelivered.since > world_.settings.message_patience;
}

Awaitable<bool> Runner::deliver(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record) {
        undelivered_.erase(id);
        co_return true;
    }
    const bool delivered = co_await agents_.deliver(*record);
    if (record->outbox.empty()) undelivered_.erase(id);
    if (!delivered) co_await mark_dialogs(*record);
    if (!delivered && !record->outbox.empty() && waits_too_long(id, record->outbox.front()) &&
        !record->task.attention) {
        const Role to = record->outbox.front().to;
        record->task.attention =
            "a message for the " + std::string(name_of(to)) +
            (agents_.alive(*record, to)
                 ? " cannot be delivered: its window does not take input; look: orange task attach "
                 : " waits for one, and none is running; see how it goes on: orange task why ") +
            id.value;
        if (auto saved = world_.tasks.save(*record); !saved) log::error("runner", saved.error().message);
        changed_(id);
    }
    co_return delivered;
}

}  // namespace orange
