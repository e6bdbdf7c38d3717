#include "daemon/runner/outbox.hpp"

#include "common/base/try.hpp"
#include "daemon/log/log.hpp"

namespace orange {

Awaitable<Result<Outcome>> Outbox::send(TaskId id, Role to, std::string text) {
    {
        CO_TRY(auto turn, co_await turns_.take(id));
        auto& record = turn.record;
        if (!agents_.alive(record, to)) {
            co_return Error(ErrorCode::conflict, "the " + std::string(name_of(to)) +
                                                     " is not running; start it: orange task respawn " + id.value);
        }
        CO_TRY(agents_.queue_message(record, to, Role::human, std::move(text)));
    }
    const bool delivered = co_await deliver(id);
    Outcome outcome;
    if (!delivered) outcome.notes = {"queued; it is delivered when the agent can take it"};
    co_return outcome;
}

Awaitable<void> Outbox::look_for_dialogs(TaskId id) {
    auto turn = co_await turns_.take(id);
    if (turn) co_await mark_dialogs(turn->record);
}

Awaitable<void> Outbox::mark_dialogs(TaskRecord& record) {
    if (record.task.attention || record.intent) co_return;
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (!agents_.alive(record, role)) continue;
        if (!co_await agents_.shows_dialog(record, role)) continue;
        const auto& id = record.task.id;
        record.task.attention = "the " + std::string(name_of(role)) +
                                " waits for an answer in its window: orange task "
                                "attach " +
                                id.value;
        turns_.save(record);
        co_return;
    }
}

bool Outbox::waits_too_long(const TaskId& id, const Message& message) {
    const auto now = std::chrono::steady_clock::now();
    auto& undelivered = undelivered_[id];
    if (undelivered.message != message.id) undelivered = {message.id, now};
    return now - undelivered.since > world_.settings.message_patience;
}

void Outbox::mark_undelivered(TaskRecord& record) {
    const auto& id = record.task.id;
    if (record.task.attention || !waits_too_long(id, record.outbox.front())) return;
    const Role to = record.outbox.front().to;
    record.task.attention =
        "a message for the " + std::string(name_of(to)) +
        (agents_.alive(record, to) ? " cannot be delivered: its window does not take input; look: orange task attach "
                                   : " waits for one, and none is running; see how it goes on: orange task why ") +
        id.value;
    turns_.save(record);
}

Awaitable<bool> Outbox::deliver(TaskId id) {
    auto turn = co_await turns_.take(id);
    if (!turn) {
        undelivered_.erase(id);
        co_return true;
    }
    auto& record = turn->record;
    const bool delivered = co_await agents_.deliver(record);
    if (!delivered) co_await mark_dialogs(record);
    if (record.outbox.empty()) {
        undelivered_.erase(id);
    } else if (!delivered) {
        mark_undelivered(record);
    }
    co_return delivered;
}

}  // namespace orange
