#include "daemon/runner/outbox.hpp"

#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/activity.hpp"
#include "daemon/runner/messages.hpp"
#include "daemon/runner/notices.hpp"

namespace orange {

Awaitable<Result<Outcome>> Outbox::send(TaskId id, Role to, std::string text) {
    {
        CO_TRY(auto turn, co_await turns_.take(id));
        auto& record = turn.record;
        if (!agents_.alive(record, to)) {
            co_return Error(ErrorCode::conflict,
                            "the " + std::string(name_of(to)) + " is not running\n  orange task respawn " + id.value);
        }
        CO_TRY(queue_message(world_, record, to, Role::human, std::move(text)));
    }
    const bool delivered = co_await deliver(id);
    Outcome outcome;
    if (!delivered) outcome.notes = {"queued; it is delivered when the agent can take it"};
    co_return outcome;
}

Awaitable<Result<void>> Outbox::leave(TaskId id, Role to, std::string text) {
    CO_TRY(auto turn, co_await turns_.take(id));
    co_return queue_message(world_, turn.record, to, Role::human, std::move(text));
}

Awaitable<void> Outbox::look_for_dialogs(TaskId id) {
    auto turn = co_await turns_.take(id);
    if (turn) co_await mark_dialogs(turn->record);
}

Awaitable<void> Outbox::mark_dialogs(TaskRecord& record) {
    if (record.intent) co_return;
    const auto before = record.notices;
    std::string asks;
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (asks.empty() && agents_.alive(record, role) && co_await shows_dialog(record, role)) asks = name_of(role);
    }
    if (asks.empty()) {
        (void)clear(record, NoticeKind::agent_dialog);
    } else {
        raise(world_, record, NoticeKind::agent_dialog, "the " + asks + " waits for an answer in its window",
              "orange task attach " + record.task.id.value, asks);
    }
    if (!(record.notices == before)) turns_.save(record);
}

Awaitable<bool> Outbox::shows_dialog(const TaskRecord& record, Role role) {
    co_return co_await activity_of(world_, agents_, record, role) == agents::Activity::waiting;
}

Awaitable<bool> Outbox::deliver_one(const TaskRecord& record, const AgentRun& run, const Message& message) {
    const auto harness = world_.harnesses.find(run.harness);
    // Started in what is the future now: the clock was set back, and nobody is to wait until it is there again.
    const auto age = world_.clock.now() - run.spawned_at;
    if (harness && age >= age.zero() && age < harness->harness.ready_after) co_return false;
    // Busy is no obstacle: the programs queue what is typed meanwhile. Typing into a dialog would answer it.
    if (co_await shows_dialog(record, run.role)) co_return false;
    const auto sent = co_await world_.tmux.send(run.pane_id, message.text);
    if (!sent) log::warn("outbox", sent.error().message, {{"task", record.task.id.value}});
    co_return sent.has_value();
}

Awaitable<bool> Outbox::deliver_all(TaskRecord& record) {
    while (!record.outbox.empty()) {
        const auto message = record.outbox.front();
        const auto* run = record.run_of(message.to);
        if (typed_.contains(message.id)) {
            // Only its end could not be written down; nobody is told the same twice.
        } else if (run && agents_.alive(record, message.to)) {
            const auto to = *run;
            if (!co_await deliver_one(record, to, message)) co_return false;
            typed_.insert(message.id);
        } else if (run || message.from == Role::human) {
            co_return false;  // dying, starting, or not there: it waits for the next one
        }
        // Saved after the keys were typed: a crash in between repeats the message, which is harmless; losing it is not.
        std::erase_if(record.outbox, [&](const Message& m) { return m.id == message.id; });
        if (record.outbox.empty()) (void)clear(record, NoticeKind::message_undelivered);
        if (message.from == Role::human && run) record.answered = record.questions;
        if (auto saved = world_.tasks.save(record); !saved) co_return false;
        typed_.erase(message.id);
        if (run) {
            world_.journal.write(record, "agent.notified",
                                 {{"role", std::string(name_of(message.to))}, {"message", message.text}});
        }
    }
    co_return true;
}

bool Outbox::waits_too_long(const TaskId& id, const Message& message) {
    const auto now = std::chrono::steady_clock::now();
    auto& undelivered = undelivered_[id];
    if (undelivered.message != message.id) undelivered = {message.id, now};
    return now - undelivered.since > world_.settings.message_patience;
}

void Outbox::mark_undelivered(TaskRecord& record) {
    const auto& id = record.task.id;
    if (!waits_too_long(id, record.outbox.front())) return;
    const auto before = record.notices;
    const auto role = std::string(name_of(record.outbox.front().to));
    if (agents_.alive(record, record.outbox.front().to)) {
        raise(world_, record, NoticeKind::message_undelivered,
              "a message for the " + role + " cannot be delivered: its window does not take input",
              "orange task attach " + id.value, role);
    } else {
        raise(world_, record, NoticeKind::message_undelivered, "a message for the " + role + " waits until one runs",
              "orange task why " + id.value, role);
    }
    if (!(record.notices == before)) turns_.save(record);
}

Awaitable<bool> Outbox::deliver(TaskId id) {
    auto turn = co_await turns_.take(id);
    if (!turn) {
        undelivered_.erase(id);
        co_return true;
    }
    auto& record = turn->record;
    const bool delivered = co_await deliver_all(record);
    if (!delivered) co_await mark_dialogs(record);
    if (record.outbox.empty()) {
        undelivered_.erase(id);
    } else if (!delivered) {
        mark_undelivered(record);
    }
    co_return delivered;
}

}  // namespace orange
