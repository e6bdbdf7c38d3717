#include "daemon/runner/outbox.hpp"

#include <algorithm>

#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/messages.hpp"
#include "daemon/runner/notices.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_kept_messages = 5;
constexpr auto k_swallowed_after = 8s;
/// A message that an agent has had for so long while it worked is one that its program has put into its queue.
constexpr auto k_queued_after = 30s;
/// A window that shows neither a prompt nor work may be one that is still drawn.
constexpr auto k_unknown_after = 30s;

}  // namespace

Error not_running(const engine::Definition& definition, const Task& task, Role role) {
    const auto need = engine::respawn_need(definition, task);
    if (!need) return need.error();
    const auto name = "the " + name_text(role) + " of task " + task.id.value;
    if (need->role == role) {
        return {ErrorCode::conflict, name + " is not running. To restart it:\n  orange task respawn " + task.id.value};
    }
    return {ErrorCode::conflict,
            name + " is not running. What the task is waiting for:\n  orange task why " + task.id.value};
}

Awaitable<Result<Outcome>> Outbox::send(TaskId id, Role to, std::string text) {
    {
        CO_TRY(auto turn, co_await turns_.begin_turn(id));
        auto& record = turn.record;
        if (!agents_.alive(record, to) && !record.held_start(to)) {
            CO_TRY(const auto definition, turns_.definition_of(record.task));
            co_return not_running(*definition, record.task, to);
        }
        CO_TRY(queue_message(world_, turns_, record, to, Role::human, std::move(text)));
    }
    const bool delivered = co_await deliver(id);
    Outcome outcome;
    const auto now = turns_.record_of(id);
    if (!delivered && now && now->held_start(to)) {
        outcome.notes = {"queued; the " + name_text(to) +
                         " is not started yet, and gets it when it is. What it waits for:\n  orange task why " +
                         id.value};
    } else if (!delivered) {
        outcome.notes = {"queued; Orange delivers it when the agent can accept it"};
    }
    co_return outcome;
}

Awaitable<Result<void>> Outbox::leave(TaskId id, Role to, std::string text) {
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    co_return queue_message(world_, turns_, turn.record, to, Role::human, std::move(text));
}

Awaitable<bool> Outbox::shows_dialog(const TaskRecord& record, Role role) {
    const auto reading = co_await activities_.read(record, role);
    co_return reading.activity == Activity::waiting;
}

Awaitable<bool> Outbox::deliver_one(const TaskRecord& record, const AgentRun& run, const Message& message) {
    auto& typing = undelivered_[record.task.id].typing;
    typing = agents::Typing::later;
    const auto harness = world_.harnesses.find(run.harness);
    // Started in what is the future now: the clock was set back, and nobody is to wait until it is there again.
    const auto age = world_.clock.now() - run.spawned_at;
    if (harness && age >= age.zero() && age < harness->harness.ready_after) co_return false;
    const auto window = co_await activities_.look_before_typing(record, run.role);
    typing = window.typing;
    if (window.reading.usage_limit && co_await is_held_by_limit(run)) co_return false;
    if (window.typing != agents::Typing::safe) co_return false;
    const auto sent = co_await world_.tmux.send(run.pane_id, message.text);
    if (!sent) log::warn("outbox", sent.error().message, {{"task", record.task.id.value}});
    co_return sent.has_value();
}

/// A question about the limit would swallow what is typed: it is closed first.
Awaitable<bool> Outbox::is_held_by_limit(AgentRun run) {
    if (usage_.of(run.harness)) co_return true;
    const auto harness = world_.harnesses.find(run.harness);
    const auto view = co_await world_.tmux.view_pane(run.pane_id);
    if (!harness || !view || !agents::shows_limit_dialog(harness->harness, view->screen)) co_return false;
    const auto closed = co_await world_.tmux.press_escape(run.pane_id);
    if (!closed) log::warn("outbox", closed.error().message);
    co_return true;
}

Awaitable<bool> Outbox::deliver_all(TaskRecord& record) {
    while (!record.outbox.empty()) {
        const auto message = record.outbox.front();
        const auto* run = record.run_of(message.to);
        if (is_outdated(record, message)) {
            told_.erase(message.id);
            acknowledged_.erase(message.id);
            std::erase_if(record.outbox, [&](const Message& m) { return m.id == message.id; });
            if (record.outbox.empty()) (void)clear(record, NoticeKind::message_undelivered);
            if (!turns_.save(record)) co_return false;
            continue;
        }
        if (typed_.contains(message.id)) {
            // Only its end could not be written down; nobody is told the same twice.
        } else if (run && agents_.alive(record, message.to)) {
            const auto to = *run;
            if (!co_await deliver_one(record, to, message)) co_return false;
            typed_.insert(message.id);
        } else if (run || message.waits()) {
            undelivered_[record.task.id].typing = agents::Typing::later;
            co_return false;  // dying, starting, or not there: it waits for the next one
        }
        // Saved after the keys were typed: a crash in between repeats the message, which is harmless; losing it is not.
        std::erase_if(record.outbox, [&](const Message& m) { return m.id == message.id; });
        if (run) was_typed(record, message);
        if (record.outbox.empty()) (void)clear(record, NoticeKind::message_undelivered);
        if (message.from == Role::human && run) record.answered = record.questions;
        if (!turns_.save(record)) co_return false;
        typed_.erase(message.id);
        if (run) {
            world_.journal.write(record, "agent.notified",
                                 {{"role", name_text(message.to)}, {"message", message.text}});
        }
    }
    co_return true;
}

void Outbox::was_typed(TaskRecord& record, const Message& message) {
    auto typed = message;
    typed.typed_at = world_.clock.now();
    ++typed.times;
    record.typed.push_back(std::move(typed));
    if (record.typed.size() > k_kept_messages) record.typed.erase(record.typed.begin());
}

/// True once nothing more is to be found out about it for now. A program whose prompt Orange can read shows the message
/// among its turns, or as queued; another one has taken it if it began to work since. A program that worked for long
/// may show it no more.
Awaitable<bool> Outbox::acknowledge_one(TaskRecord& record, Message& message) {
    const auto* current = record.run_of(message.to);
    if (message.seen || !current || current->spawned_at > *message.typed_at) co_return true;
    const auto run = *current;
    const auto entry = world_.harnesses.find(run.harness);
    const auto view = co_await world_.tmux.view_pane(run.pane_id);
    if (!entry || !view) co_return false;
    const auto reading = co_await activities_.read(record, message.to);
    const auto& harness = entry->harness;
    const bool readable = !harness.composer_empty.empty();
    const bool busy = reading.activity == Activity::busy;
    const bool held = agents::composer_holds(harness, view->screen, message.text) ||
                      agents::stands_at_cursor(view->before_cursor, message.text);  // typed, and not sent
    const bool empty = !held && (busy || !readable || agents::composer_is_empty(harness, view->screen));
    const bool shown = agents::shows_text(view->screen, message.text);
    const bool moved = record.entered_at && *record.entered_at > *message.typed_at;
    const auto age = world_.clock.now() - *message.typed_at;
    const bool old = age > k_queued_after;
    const bool queued = old && message.times == 1 && reading.activity == Activity::idle &&
                        activities_.worked_since(record, run, *message.typed_at);
    if (moved || (!held && ((busy && !readable) || (shown && empty) || queued))) {
        message.seen = true;
        if (told_.erase(message.id) > 0 && record.outbox.empty()) {
            (void)clear(record, NoticeKind::message_undelivered);
        }
        co_return true;
    }
    const bool late = age > k_swallowed_after;
    // Nothing is concluded from a window that Orange cannot read.
    const bool unknown = reading.activity == Activity::unknown;
    if (!late || reading.activity != Activity::idle || (shown && !held)) co_return (late && unknown);
    if (old && !held && message.times == 1) co_return true;  // nobody knows, and nobody is told the same twice
    if (held || message.times > 1) {
        if (!told_.insert(message.id).second) co_return true;
        const auto role = name_text(message.to);
        const auto* what = held ? " did not take a message; press Enter in its window to send it: "
                                : " did not take a message that was typed twice: ";
        raise(world_, record, NoticeKind::message_undelivered, "the " + role + what + message.text,
              "orange task attach " + record.task.id.value, role);
        co_return true;
    }
    const auto window = co_await activities_.look_before_typing(record, message.to);
    if (window.typing != agents::Typing::safe) co_return false;
    const auto again = co_await world_.tmux.send(run.pane_id, message.text);
    if (!again) co_return false;
    ++message.times;
    message.typed_at = world_.clock.now();
    co_return false;
}

Awaitable<bool> Outbox::acknowledge(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return true;
    auto& record = turn->record;
    const auto before = record.typed;
    const auto notices = record.notices;
    bool all = true;
    for (std::size_t i = 0; i < record.typed.size(); ++i) {
        const bool done = co_await acknowledge_one(record, record.typed[i]);
        all = all && done;
    }
    if (!(before == record.typed && notices == record.notices)) turns_.save(record);
    co_return all;
}

bool Outbox::may_be_seen(const TaskId& id) const {
    const auto* record = world_.tasks.find(id);
    if (!record) return false;
    return std::any_of(record->typed.begin(), record->typed.end(), [&](const Message& message) {
        const auto activity = activities_.of(*record, message.to);
        return !message.seen && activity && activity->activity == Activity::idle;
    });
}

/// Its human was told of it, and the task has got further without it: somebody has told the agent.
bool Outbox::is_outdated(const TaskRecord& record, const Message& message) const {
    const bool was_told = told_.contains(message.id) || acknowledged_.contains(message.id);
    return was_told && !message.waits() && record.entered_at && *record.entered_at > message.queued_at;
}

void Outbox::was_acknowledged(const TaskRecord& record) {
    undelivered_.erase(record.task.id);
    for (const auto& message : record.outbox) {
        if (told_.contains(message.id)) acknowledged_.insert(message.id);
    }
}

/// With a definition that names no sign of a prompt, no time makes it safe to type.
bool Outbox::waits_too_long(const TaskRecord& record, const Message& message) {
    const auto now = async::now();
    auto& undelivered = undelivered_[record.task.id];
    if (undelivered.message != message.id) {
        undelivered.message = message.id;
        undelivered.since = now;
    }
    std::chrono::milliseconds patience = world_.settings.message_patience;
    const auto* run = record.run_of(message.to);
    const auto entry = run ? world_.harnesses.find(run->harness) : Result<agents::HarnessEntry>(Error{});
    if (entry && undelivered.typing == agents::Typing::unknown) {
        patience = std::min<std::chrono::milliseconds>(patience, k_unknown_after);
        if (!agents::can_be_typed_to(entry->harness)) return true;
    }
    return now - undelivered.since > patience;
}

void Outbox::mark_undelivered(TaskRecord& record) {
    const auto& id = record.task.id;
    const auto& message = record.outbox.front();
    const auto* run = record.run_of(message.to);
    if (run && usage_.of(run->harness)) return;
    if (record.held_start(message.to)) return;  // its view says what that one waits for
    // Orange tells the worker of a passed review, for example. While a human is to act, nothing waits for the agent.
    if (message.from == Role::system && activities_.awaited(record).empty()) return;
    const auto seen = activities_.of(record, message.to);
    if (seen && (seen->activity == Activity::busy || seen->activity == Activity::waiting)) {
        undelivered_.erase(id);  // its turn ends, and a dialog has a notice of its own
        return;
    }
    if (!waits_too_long(record, message)) return;
    if (undelivered_[id].typing == agents::Typing::unknown && acknowledged_.contains(message.id)) return;
    const auto before = record.notices;
    const auto role = name_text(message.to);
    told_.insert(message.id);
    if (agents_.alive(record, message.to)) {
        raise(world_, record, NoticeKind::message_undelivered, "not delivered to the " + role + ": " + message.text,
              "orange task attach " + id.value, role);
    } else {
        raise(world_, record, NoticeKind::message_undelivered, "a message for the " + role + " waits until one runs",
              "orange task why " + id.value, role);
    }
    if (!(record.notices == before)) turns_.save(record);
}

Awaitable<bool> Outbox::deliver(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) {
        undelivered_.erase(id);
        co_return true;
    }
    auto& record = turn->record;
    const bool delivered = co_await deliver_all(record);
    if (!delivered) co_await activities_.update_in_turn(record);
    if (record.outbox.empty()) {
        undelivered_.erase(id);
    } else if (!delivered) {
        mark_undelivered(record);
    }
    co_return delivered;
}

}  // namespace orange
