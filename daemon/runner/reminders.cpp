#include "daemon/runner/reminders.hpp"

#include <algorithm>

#include "daemon/log/log.hpp"
#include "daemon/runner/facts.hpp"
#include "daemon/runner/messages.hpp"
#include "daemon/runner/notices.hpp"
#include "daemon/runner/sight.hpp"
#include "daemon/runner/silence.hpp"

namespace orange {
namespace {

constexpr std::chrono::milliseconds k_least_pause{100};

}  // namespace

Reminders::Reminders(Runner& runner) : runner_(runner), world_(runner.world) {
    observer_ = world_.tasks.observe([this](const TaskId& id) { changed(id); });
    runner_.activities.on_change([this](const TaskId& id) { changed(id); });
}

Reminders::~Reminders() {
    world_.tasks.unobserve(observer_);
    runner_.activities.on_change([](const TaskId&) {});
}

void Reminders::changed(const TaskId& id) {
    if (stopped_) return;
    if (!attending_.insert(id).second) {
        changed_meanwhile_.insert(id);
        return;
    }
    async::spawn(world_.executor, "reminders", keep_attending(id));
}

Awaitable<void> Reminders::keep_attending(TaskId id) {
    std::optional<Timestamp> due;
    do {
        co_await async::yield();
        changed_meanwhile_.erase(id);
        due = co_await attend(id);
    } while (changed_meanwhile_.contains(id));
    attending_.erase(id);
    alarms_.erase(id);
    if (!due || stopped_) co_return;
    const auto left = std::max(k_least_pause, std::chrono::ceil<std::chrono::milliseconds>(*due - world_.clock.now()));
    const auto ring = [](Reminders& self, TaskId task, std::chrono::milliseconds pause) -> Awaitable<void> {
        const bool slept = co_await async::sleep(pause);
        if (slept) self.changed(task);
    };
    alarms_[id] = async::spawn_stoppable(world_.executor, "reminder", ring(*this, id, left));
}

std::optional<AgentActivity> Reminders::idle_agent(const TaskRecord& record) const {
    if (store::has_ended(record) || record.intent || record.stopped || !record.outbox.empty() || record.asked) {
        return std::nullopt;
    }
    if (!Merges::under_way(record).empty() || !runner_.checks.under_way(record.task.id).empty()) return std::nullopt;
    const auto definition = runner_.turns.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    if (!state || !state->agent) return std::nullopt;
    auto seen = runner_.activities.of(record, *state->agent);
    const bool rests = seen && (seen->activity == Activity::idle || seen->activity == Activity::unknown);
    if (!rests || needs_of(runner_, record).kind != Need::nothing) return std::nullopt;
    return seen;
}

engine::IdleTimes Reminders::times_for(const TaskRecord& record, Role role) const {
    const auto* project = world_.projects.find(record.task.project);
    const auto settings = settings_of(world_, project ? *project : Project{});
    engine::IdleTimes times;
    times.idle_after = std::chrono::seconds(*settings.idle_after);
    times.remind_again = std::chrono::seconds(*settings.remind_again);
    const auto* run = record.run_of(role);
    const auto harness = run ? world_.harnesses.find(run->harness) : Result<agents::HarnessEntry>(Error{});
    const bool own = project && project->settings.idle_after;
    if (harness && harness->harness.idle_after && !own) times.idle_after = *harness->harness.idle_after;
    return times;
}

Timestamp Reminders::unchanged_since(const TaskRecord& record) {
    auto& body = bodies_[record.task.id];
    if (body.since == Timestamp{} || body.hash != record.body_hash) body = {record.body_hash, world_.clock.now()};
    return std::max(body.since, record.task.updated_at);
}

/// When a person last pressed a key in a terminal that shows the task's session.
Awaitable<std::optional<Timestamp>> Reminders::human_at(const TaskRecord& record) {
    const auto session = record.task.tmux_session.value_or("");
    std::optional<Timestamp> last;
    const auto clients = co_await world_.tmux.clients();
    if (!clients) co_return last;
    for (const auto& client : *clients) {
        if (client.session_name == session && (!last || client.typed_at > *last)) last = client.typed_at;
    }
    co_return last;
}

/// Text that a person has typed and not sent: Enter would send it with the reminder.
Awaitable<bool> Reminders::has_draft(const TaskRecord& record, Role role) {
    const auto run = *record.run_of(role);
    const auto harness = world_.harnesses.find(run.harness);
    if (!harness || harness->harness.composer_empty.empty()) co_return false;
    const auto view = co_await world_.tmux.view_pane(run.pane_id);
    co_return !view || !agents::composer_is_empty(harness->harness, view->screen);
}

Awaitable<std::optional<Timestamp>> Reminders::attend(TaskId id) {
    const auto* found = world_.tasks.find(id);
    if (!found || store::has_ended(*found)) bodies_.erase(id);
    if (!found) co_return std::nullopt;
    const auto definition = runner_.turns.definition_of(found->task);
    const auto* state = definition ? (*definition)->state(found->task.status) : nullptr;
    if (!state || !state->agent) co_return std::nullopt;
    const auto role = *state->agent;
    const auto seen = runner_.activities.of(*found, role);
    if (seen && seen->activity == Activity::busy && engine::find_notice(*found, NoticeKind::agent_idle)) {
        auto turn = co_await runner_.turns.begin_turn(id);
        if (turn && clear(turn->record, NoticeKind::agent_idle)) runner_.turns.save(turn->record);
        co_return std::nullopt;
    }
    if (!idle_agent(*found)) co_return std::nullopt;
    const auto times = times_for(*found, role);
    const auto entered = found->entered_at.value_or(found->task.updated_at);
    const bool unread = seen->activity == Activity::unknown;
    const auto since = unread ? unchanged_since(*found) : std::max(seen->since, entered);
    const auto patience = unread ? times.idle_after + times.remind_again : times.idle_after;
    if (world_.clock.now() < since + patience) co_return since + patience;

    auto turn = co_await runner_.turns.begin_turn(id);
    if (!turn) co_return std::nullopt;
    auto& record = turn->record;
    const auto idle = idle_agent(record);
    if (!idle || idle->since != seen->since) co_return std::nullopt;  // the change that did it comes here, too
    auto stepped = co_await runner_.turns.step_bodies(record);
    if (!stepped) co_return std::nullopt;
    const auto facts = co_await facts_of(world_, record, **definition);
    const engine::Situation situation{record.task, stepped->artifacts, record.entry_sections, facts};
    if (unread) {
        const auto handover = engine::handover(**definition, situation);
        const auto due = unchanged_since(record) + patience;
        if (!handover || world_.clock.now() < due) co_return handover ? std::optional(due) : std::nullopt;
        tell_of_handover(record, role, *handover, std::chrono::duration_cast<std::chrono::seconds>(patience));
        co_return std::nullopt;
    }
    auto text = engine::forgotten(**definition, situation);
    if (!text) co_return std::nullopt;
    const auto human = co_await human_at(record);
    const auto step = engine::idle_step(*text, record.reminder, entered, since, human, times);
    if (world_.clock.now() < step.at) co_return step.at;
    co_await runner_.activities.update_in_turn(record);  // it may have begun to work a moment ago
    if (!idle_agent(record)) co_return std::nullopt;
    const bool draft = co_await has_draft(record, role);
    if (draft) {
        raise(world_, record, NoticeKind::agent_idle,
              "the " + name_text(role) + " is idle, and its window does not show an empty prompt",
              "orange task attach " + id.value, name_text(role));
        runner_.turns.save(record);
    } else if (step.kind == engine::IdleStep::Kind::remind) {
        co_await remind(*turn, role, std::move(*text));
    } else {
        co_await give_up(std::move(*turn), *definition, std::move(*stepped), role, std::move(*text));
    }
    co_return std::nullopt;  // each of them saves the task, which leads here again
}

void Reminders::tell_of_handover(TaskRecord& record, Role role, const engine::Handover& handover,
                                 std::chrono::seconds time) {
    const auto id = record.task.id.value;
    const auto name = name_text(role);
    raise(world_, record, NoticeKind::agent_idle,
          "the " + name + " has written ## " + handover.section + ", but has not called orange for " + spoken(time) +
              ". Orange cannot see what it does. If it is done, run: orange task update " + id + " --status " +
              handover.to,
          "orange task attach " + id, name);
    runner_.turns.save(record);
}

Awaitable<void> Reminders::remind(TaskTurn& turn, Role role, std::string text) {
    auto& record = turn.record;
    const auto entered = record.entered_at.value_or(record.task.updated_at);
    const bool again = record.reminder && record.reminder->text == text && record.reminder->entered == entered;
    record.reminder = Reminder{text, entered, again ? record.reminder->times + 1 : 1, world_.clock.now()};
    const auto queued = queue_message(world_, runner_.turns, record, role, Role::system, text);
    if (!queued) {
        log::warn("reminders", queued.error().message, {{"task", record.task.id.value}});
    } else {
        world_.journal.write(record, "agent.reminded", {{"role", name_text(role)}, {"message", std::move(text)}});
    }
    co_return;
}

Awaitable<void> Reminders::give_up(TaskTurn turn, workflow::Library::DefinitionPtr definition, Stepped stepped,
                                   Role role, std::string text) {
    auto& record = turn.record;
    const auto id = record.task.id.value;
    const auto* project = world_.projects.find(record.task.project);
    if (project && *settings_of(world_, *project).advance_idle) {
        const auto facts = co_await facts_of(world_, record, *definition);
        const engine::Situation situation{record.task, stepped.artifacts, record.entry_sections, facts};
        if (auto decision = engine::decide_idle(*definition, situation)) {
            Caller by;
            by.role = Role::system;
            by.evidence = "idle " + name_text(role);
            auto done =
                co_await runner_.transitions.perform(record, definition, std::move(*decision), std::move(stepped), by);
            if (done) co_return;
            text = done.error().message;
        }
    }
    raise(world_, record, NoticeKind::agent_idle, "the " + name_text(role) + " is idle and was reminded twice: " + text,
          "orange task attach " + id, name_text(role));
    runner_.turns.save(record);
}

}  // namespace orange
