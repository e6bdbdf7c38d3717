#include "daemon/runner/agents/outbox.hpp"

#include <algorithm>
#include <utility>

#include "common/base/try.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/runner/transitions/given_files.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_kept_messages = 5;
/// A prompt that shows more than about five lines scrolls, and Orange could not see all of what stands in it.
constexpr std::size_t k_longest_line = 320;
constexpr std::chrono::milliseconds k_first_delay = 500ms, k_longest_delay = 5s;
constexpr std::chrono::milliseconds k_between_looks = 2s;
constexpr auto k_swallowed_after = 8s;
/// A message that an agent has had for this long while it worked was put into the queue of its program.
constexpr auto k_queued_after = 30s;
/// Before this time, a window that shows neither a prompt nor work may still be drawn.
constexpr auto k_covered_for = 30s;

/// Returns why a message is not typed.
std::string reason_for(Role role, agents::Typing window) {
    return "the " + name_text(role) + " does not get it yet: " + std::string(agents::reason_of(window));
}

}  // namespace

Error not_running(const engine::Definition& definition, const TaskRecord& record, Role role) {
    const auto& task = record.task;
    const auto need = engine::respawn_need(definition, task, record.queued);
    if (!need) return need.error();
    const auto name = "the " + name_text(role) + " of task " + task.id.value;
    if (need->role == role) {
        return {ErrorCode::conflict, name + " is not running. To restart it:\n  orange task respawn " + task.id.value};
    }
    return {ErrorCode::conflict,
            name + " is not running. What the task is waiting for:\n  orange task why " + task.id.value};
}

Awaitable<Result<void>> Outbox::queue(TaskRecord& record, Role to, std::string text, std::vector<std::string> files) {
    CO_TRY(auto given, give_files(runner_, record, files));
    auto queued = queue_message(world_, turns_, record, to, Role::human, message_with(std::move(text), given));
    if (!queued) runner_.uploads.take_back(std::move(given.taken), world_.tasks.folder(record));
    if (queued && !files.empty()) co_await turns_.show(record);
    co_return queued;
}

Awaitable<Result<Outcome>> Outbox::send(TaskId id, Role to, std::string text, std::vector<std::string> files) {
    {
        CO_TRY(auto turn, co_await turns_.begin_turn(id));
        auto& record = turn.record;
        if (!runner_.agents.alive(record, to) && !record.held_start(to)) {
            CO_TRY(const auto definition, turns_.definition_of(record.task));
            co_return not_running(*definition, record, to);
        }
        CO_TRY(co_await queue(record, to, std::move(text), std::move(files)));
    }
    const auto waits = co_await deliver(id);
    Outcome outcome;
    const auto now = turns_.record_of(id);
    if (!waits.empty() && now && now->held_start(to)) {
        outcome.notes = {"queued; the " + name_text(to) +
                         " is not started yet, and gets it when it is. What it waits for:\n  orange task why " +
                         id.value};
    } else if (!waits.empty()) {
        outcome.notes = {"queued; Orange delivers it when it can: " + waits};
    }
    co_return outcome;
}

Awaitable<Result<void>> Outbox::leave(TaskId id, Role to, std::string text, std::vector<std::string> files) {
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    co_return co_await queue(turn.record, to, std::move(text), std::move(files));
}

Awaitable<bool> Outbox::shows_dialog(const TaskRecord& record, Role role) {
    const auto reading = co_await runner_.activities.read(record, role);
    co_return reading.activity == Activity::waiting;
}

Outbox::Line Outbox::line_for(const TaskRecord& record, const AgentRun& run, const Message& message) const {
    if (message.text.size() <= k_longest_line) return {message.text};
    const auto folder = record.task.executor.empty()
                            ? runner_.agents.run_folder(record)
                            : agents::Launcher::inner_folder(runner_.agents.run_folder(record), run.run);
    auto file = folder / ("message-" + message.id + ".md");
    // The id stands first: a message is known by its beginning.
    return {"[orange] Message " + message.id + " is long: read it in " + file.string() + " and follow it.",
            std::move(file)};
}

Awaitable<bool> Outbox::paste(AgentRun run, Line line, std::string whole) {
    const auto kept = line.file.empty() ? Result<void>{} : world_.files.replace(line.file, whole);
    if (!kept) log::warn("outbox", kept.error().message);
    if (!kept) co_return false;
    const auto pasted = co_await world_.tmux.paste(run.pane_id, line.text);
    if (!pasted) log::warn("outbox", pasted.error().message);
    co_return pasted.has_value();
}

Awaitable<void> Outbox::enter(AgentRun run, std::string line) {
    const auto entry = world_.harnesses.find(run.harness);
    if (!entry) co_return;
    auto holds = [harness = entry->harness, text = std::move(line)](const PaneView& view) {
        const auto reading = agents::reading_of(harness, Activity::unknown, view.screen, view.title);
        const bool asks = reading.dialog || reading.activity == Activity::waiting;  // Enter would answer it
        return !asks && agents::pasted_in(harness, view.styled, text) == agents::Pasted::alone;
    };
    std::function<bool(const PaneView&)> alone = std::move(holds);
    const auto entered = co_await world_.tmux.press_enter(run.pane_id, std::move(alone));
    if (!entered) log::warn("outbox", entered.error().message);
}

Awaitable<Outbox::Typed> Outbox::put_into_inbox(const TaskRecord& record, AgentRun run, Message message) {
    co_await runner_.activities.read(record, run.role);  // its events
    Typed typed{runner_.activities.has_taken(record, run, message.id), agents::Typing::later, true};
    if (typed.done) co_return typed;
    const auto file = agents::inbox_file(runner_.agents.run_folder(record), run.run);
    const auto line = dump(Json{{"id", message.id}, {"text", message.text}}) + "\n";
    const auto present = world_.files.read(file);
    if (present && present->find(line) != std::string::npos) co_return typed;
    const auto added = world_.files.append(file, line);
    if (!added) log::warn("outbox", added.error().message, {{"task", record.task.id.value}});
    co_return typed;
}

Awaitable<Outbox::Typed> Outbox::type(const TaskRecord& record, AgentRun run, Message message) {
    Typed typed;
    const auto entry = world_.harnesses.find(run.harness);
    if (entry && entry->harness.inbox) co_return co_await put_into_inbox(record, std::move(run), std::move(message));
    // A negative age means that the clock was set back. The message must not wait for the old time to come again.
    const auto age = world_.clock.now() - run.began_at();
    if (!entry || (age >= age.zero() && age < entry->harness.ready_after)) co_return typed;
    const auto window = co_await runner_.activities.look_before_typing(record, run.role);
    typed.window = window.typing;
    auto line = line_for(record, run, message);
    // A daemon that was killed in between may have pasted it.
    const bool is_there = agents::pasted_in(entry->harness, window.styled, line.text) == agents::Pasted::alone;
    if (!is_there && window.reading.usage_limit) {
        if (co_await is_held_by_limit(run, window.keys_lately || window.typing == agents::Typing::writing)) {
            co_return typed;
        }
    }
    if (!is_there && window.typing != agents::Typing::safe) co_return typed;
    const auto text = line.text;
    typed.at = world_.clock.now();
    if (!is_there) {
        if (!co_await paste(run, std::move(line), std::move(message.text))) co_return typed;
    }
    typed.done = true;
    co_await enter(run, text);
    co_return typed;
}

/// A dialog about the limit would swallow the text, so the dialog is closed first, unless a person is at the window.
Awaitable<bool> Outbox::is_held_by_limit(AgentRun run, bool is_attended) {
    if (runner_.usage.of(run.harness)) co_return true;
    const auto harness = world_.harnesses.find(run.harness);
    const auto view = co_await world_.tmux.view_pane(run.pane_id);
    if (!harness || !view || !agents::shows_limit_dialog(harness->harness, view->screen)) co_return false;
    if (is_attended) co_return true;
    const auto closed = co_await world_.tmux.press_escape(run.pane_id);
    if (!closed) log::warn("outbox", closed.error().message);
    co_return true;
}

Awaitable<Result<std::optional<engine::Hold>>> Outbox::deliver_next(TaskRecord& record, Tries tries, bool without_own) {
    std::map<Role, std::string> next;
    for (const auto& message : record.outbox) {
        if (!without_own || message.from != Role::system) next.emplace(message.to, message.id);
    }
    std::optional<engine::Hold> first;
    for (auto& [role, id] : next) {
        CO_TRY(auto hold, co_await deliver_one(record, std::move(id), tries));
        if (!hold) co_return hold;
        if (first) hold->counts = hold->counts || first->counts;
        if (!first || !first->left || (hold->left && *hold->left < *first->left)) {
            first = std::move(hold);
        } else {
            first->counts = hold->counts;
        }
    }
    co_return first;
}

Awaitable<Result<std::optional<engine::Hold>>> Outbox::deliver_one(TaskRecord& record, std::string id, Tries tries) {
    const auto message = *std::ranges::find(record.outbox, id, &Message::id);
    if (is_outdated(record, message)) {
        CO_TRY(drop(record, id));
        co_return std::nullopt;
    }
    const auto* run = record.run_of(message.to);
    const bool is_alive = run && runner_.agents.alive(record, message.to);
    if (is_alive && !run->has_begun()) {
        co_return engine::Hold{std::nullopt, "the " + name_text(message.to) + " has not begun", true, false};
    }
    const bool is_dropped = !run && !message.waits();  // Orange's own message to an agent that is gone
    Typed typed{unwritten_.contains(id) || is_dropped};
    if (!typed.done && is_alive) typed = co_await type(record, *run, message);
    if (typed.done) {
        if (is_dropped) {
            CO_TRY(drop(record, id));
            co_return std::nullopt;
        }
        // Saved after the keys were typed: a crash in between repeats the message. A repetition is harmless, a loss is
        // not.
        unwritten_.insert(id);
        CO_TRY(note_typed(record, message, typed));
        unwritten_.erase(id);
        co_return std::nullopt;
    }
    co_await runner_.activities.update_in_turn(record);
    engine::Hold hold{k_first_delay, reason_for(message.to, typed.window), false};
    const auto waiting = std::ranges::find(record.outbox, id, &Message::id);
    if (waiting != record.outbox.end()) hold.counts = tell_undelivered(record, *waiting, typed.window, tries.since);
    for (int i = 0; i < tries.count && *hold.left < k_longest_delay; ++i) hold.left = *hold.left * 5 / 4;
    hold.left = std::min(*hold.left, k_longest_delay);
    co_return hold;
}

Result<void> Outbox::drop(TaskRecord& record, const std::string& id) {
    std::erase_if(record.outbox, [&](const Message& message) { return message.id == id; });
    if (record.outbox.empty()) (void)clear(record, NoticeKind::message_undelivered);
    return turns_.try_save(record);
}

/// The message was typed into an agent's window, or taken from its inbox.
Result<void> Outbox::note_typed(TaskRecord& record, const Message& message, const Typed& how) {
    auto typed = message;
    typed.typed_at = how.at == Timestamp{} ? world_.clock.now() : how.at;
    ++typed.times;
    typed.seen = how.seen;
    record.typed.push_back(std::move(typed));
    if (record.typed.size() > k_kept_messages) record.typed.erase(record.typed.begin());
    if (message.from == Role::human) record.answered = record.questions;
    TRY(drop(record, message.id));
    world_.journal.write(record, "agent.notified", {{"role", name_text(message.to)}, {"message", message.text}});
    return {};
}

/// Reads the window of a message's agent. The program has taken the message if it began to work since, or if it rests
/// and shows the message above its empty prompt, or did so before. A program that works may only have queued it. After
/// long work, a program may no longer show the message.
Awaitable<std::optional<Outbox::Traces>> Outbox::traces_of(const TaskRecord& record, AgentRun run, Message message) {
    const auto entry = world_.harnesses.find(run.harness);
    const auto view = co_await world_.tmux.view_pane(run.pane_id);
    if (!entry || !view) co_return std::nullopt;
    const auto reading = co_await runner_.activities.read(record, message.to);
    const auto& harness = entry->harness;
    const auto line = line_for(record, run, message).text;
    Traces traces;
    traces.activity = reading.activity;
    traces.pasted = agents::pasted_in(harness, view->styled, line);
    traces.shown = agents::shows_text(view->screen, line);
    traces.age = world_.clock.now() - *message.typed_at;
    const bool rests = reading.activity != Activity::busy &&
                       agents::prompt_on(harness, view->styled, view->cursor).state == agents::Prompt::State::empty;
    const bool moved = record.entered_at && *record.entered_at > *message.typed_at;
    const bool is_gone = traces.pasted == agents::Pasted::gone;
    const bool answered = traces.age > k_queued_after && message.times == 1 && reading.activity == Activity::idle &&
                          runner_.activities.worked_since(record, run, *message.typed_at);
    const bool began = runner_.activities.began_since(record, run, *message.typed_at);
    if (is_gone && traces.shown) shown_.insert(message.id);
    traces.shown = traces.shown || shown_.contains(message.id);
    traces.taken = moved || (is_gone && (began || (traces.shown && rests) || answered));
    if (traces.taken) shown_.erase(message.id);
    co_return traces;
}

/// Returns true if nothing more can be found out about the message for now.
Awaitable<bool> Outbox::acknowledge_one(TaskRecord& record, Message& message) {
    const auto* current = record.run_of(message.to);
    if (message.seen || !current || current->spawned_at > *message.typed_at) co_return true;
    const auto run = *current;
    const auto traces = co_await traces_of(record, run, message);
    if (!traces) co_return false;
    if (traces->taken) {
        message.seen = true;
        if (message.told && record.outbox.empty()) (void)clear(record, NoticeKind::message_undelivered);
        co_return true;
    }
    const bool stands = traces->pasted != agents::Pasted::gone;
    const auto line = line_for(record, run, message);
    const bool asks = traces->activity == Activity::waiting;
    if (traces->pasted == agents::Pasted::alone && !message.told && !asks) co_await enter(run, line.text);
    if (traces->age <= k_swallowed_after) co_return false;
    if (traces->activity == Activity::unknown && !stands) co_return true;  // a window without signs proves nothing
    if (!stands && (traces->activity != Activity::idle || traces->shown)) co_return false;
    const bool is_late = traces->age > k_queued_after;  // the agent may have read it, and gets no message twice
    if (is_late && !stands && runner_.activities.worked_since(record, run, *message.typed_at)) co_return true;
    if (stands || message.times > 1 || is_late) {
        tell_not_taken(record, message, traces->pasted);
        co_return true;
    }
    if (!unwritten_.contains(message.id)) {
        const auto window = co_await runner_.activities.look_before_typing(record, message.to);
        if (window.typing != agents::Typing::safe) co_return false;
        const auto before = world_.clock.now();
        if (!co_await paste(run, line, message.text)) co_return false;
        message.typed_at = before;
        unwritten_.insert(message.id);
        co_await enter(run, line.text);
    }
    ++message.times;
    co_return false;
}

void Outbox::tell_not_taken(TaskRecord& record, Message& message, agents::Pasted pasted) {
    if (std::exchange(message.told, true)) return;
    const auto role = name_text(message.to);
    const auto what = pasted == agents::Pasted::alone
                          ? "the " + role + " did not take a message; press Enter in its window to send it: "
                      : pasted == agents::Pasted::beside
                          ? "a message stands beside other text in the prompt of the " + role + "; send or remove it: "
                      : message.times > 1 ? "the " + role + " did not take a message that was typed twice: "
                                          : "the " + role + " may not have got a message: ";
    raise(world_, record, NoticeKind::message_undelivered, what + message.text,
          "orange task attach " + record.task.id.value, role);
}

Awaitable<Result<std::optional<engine::Hold>>> Outbox::acknowledge(TaskRecord& record) {
    const auto before = record;
    bool all = true;
    for (std::size_t i = 0; i < record.typed.size(); ++i) {
        const bool done = co_await acknowledge_one(record, record.typed[i]);
        all = all && done;
    }
    if (record != before) CO_TRY(turns_.try_save(record));
    for (const auto& message : record.typed) unwritten_.erase(message.id);
    engine::Hold hold;
    if (!all) hold.left = k_between_looks;
    co_return hold;
}

bool Outbox::may_be_seen(const TaskId& id) const {
    const auto record = world_.tasks.awake(id);
    if (!record) return false;
    if (!record->outbox.empty()) {
        const auto& next = record->outbox.front();
        const auto* run = record->run_of(next.to);
        if (run && runner_.activities.has_taken(*record, *run, next.id)) return true;
    }
    return std::any_of(record->typed.begin(), record->typed.end(), [&](const Message& message) {
        const auto activity = runner_.activities.of(*record, message.to);
        return !message.seen && activity && activity->activity == Activity::idle;
    });
}

/// True if the human got a notice of the message, and the task has moved on without it: the agent learned it otherwise.
bool Outbox::is_outdated(const TaskRecord& record, const Message& message) const {
    return message.told && !message.waits() && record.entered_at && *record.entered_at > message.queued_at;
}

/// If the definition names no prompt, or the window does not show it, waiting does not make it safe to type.
bool Outbox::waits_too_long(const TaskRecord& record, const Message& message, agents::Typing window,
                            async::Moment since) const {
    std::chrono::milliseconds patience = world_.settings.message_patience;
    if (!record.run_of(message.to)) return async::now() - since > patience;
    if (window == agents::Typing::never) return true;
    if (window == agents::Typing::covered) patience = std::min<std::chrono::milliseconds>(patience, k_covered_for);
    return async::now() - since > patience;
}

bool Outbox::tell_undelivered(TaskRecord& record, Message& message, agents::Typing window, async::Moment since) {
    const auto id = record.task.id.value;
    const auto* run = record.run_of(message.to);
    if (run && runner_.usage.of(run->harness)) return false;
    if (record.held_start(message.to)) return false;  // the task shows what that start waits for
    // Orange informs the worker of a passed review, for example. While the human has to act, no step depends on the
    // agent.
    if (message.from == Role::system && runner_.activities.awaited(record).empty()) return false;
    const auto seen = runner_.activities.of(record, message.to);
    // A turn ends by itself, but not what a person writes meanwhile. A dialog has a notice of its own.
    const bool is_busy = seen && seen->activity == Activity::busy && window != agents::Typing::writing;
    if (is_busy || (seen && seen->activity == Activity::waiting)) return false;
    if (!waits_too_long(record, message, window, since)) return true;
    const bool waiting_helps = window == agents::Typing::later || window == agents::Typing::writing;
    if (!waiting_helps && message.acknowledged) return true;
    const auto before = record;
    const auto role = name_text(message.to);
    message.told = true;
    if (runner_.agents.alive(record, message.to)) {
        const auto why = window == agents::Typing::later ? "" : ", because " + std::string(agents::reason_of(window));
        raise(world_, record, NoticeKind::message_undelivered,
              "not delivered to the " + role + why + ": " + message.text, "orange task attach " + id, role);
    } else {
        raise(world_, record, NoticeKind::message_undelivered, "a message for the " + role + " waits until one runs",
              "orange task why " + id, role);
    }
    if (record != before) turns_.save(record);
    return true;
}

Awaitable<std::string> Outbox::deliver(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return std::string();
    while (!turn->record.outbox.empty()) {
        const Tries first;
        const auto held = co_await deliver_next(turn->record, first);
        if (!held) co_return held.error().message;
        if (*held) co_return (*held)->why;
    }
    co_return std::string();
}

}  // namespace orange
