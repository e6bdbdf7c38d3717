#include "daemon/runner/attention/attention.hpp"

#include <algorithm>
#include <utility>

#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/agents/silence.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using std::chrono::milliseconds;

/// A person at the agent's window.
struct AtWindow {
    std::optional<Timestamp> touched_at;  ///< when a person last pressed a key there
    bool has_draft = false;               ///< they have typed text and not sent it
};

Awaitable<AtWindow> person_at(World& world, const TaskRecord& record, Role role) {
    const auto run = *record.run_of(role);
    const auto harness = world.harnesses.find(run.harness);
    const auto view = co_await world.tmux.view_pane(run.pane_id);
    if (!harness || !view) co_return AtWindow{};
    const auto prompt = agents::prompt_on(harness->harness, view->styled, view->cursor);
    co_return AtWindow{view->touched_at, prompt.state == agents::Prompt::State::filled};
}

/// `command` is what the human can do about it.
Result<void> tell(Runner& runner, TaskRecord& record, Role role, std::string what, std::string command) {
    const auto name = name_text(role);
    raise(runner.world, record, NoticeKind::agent_idle, "the " + name + " " + std::move(what), std::move(command),
          name);
    return runner.turns.try_save(record);
}

std::string attach_command(const TaskRecord& record) {
    return "orange task attach " + record.task.id.value;
}

/// The section is complete; `why` says what Orange knows of the agent. The human can hand over in the agent's place.
Result<void> tell_of_handover(Runner& runner, TaskRecord& record, Role role, const engine::Handover& handover,
                              const std::string& why) {
    return tell(runner, record, role,
                "has written ## " + handover.section + ", but has not handed it over" + why +
                    ". If its work is done, move the task to " + handover.to,
                "orange task update " + record.task.id.value + " --status " + handover.to);
}

Result<void> type_reminder(Runner& runner, TaskRecord& record, Role role, std::string text) {
    const auto entered = record.entered_at.value_or(record.task.updated_at);
    const bool again = record.reminder && record.reminder->text == text && record.reminder->entered == entered;
    record.reminder = Reminder{text, entered, again ? record.reminder->times + 1 : 1, runner.world.clock.now()};
    TRY(queue_message(runner.world, runner.turns, record, role, Role::system, text));
    runner.world.journal.write(record, "agent.reminded", {{"role", name_text(role)}, {"message", std::move(text)}});
    return {};
}

/// Called when the agent was reminded twice.
Awaitable<Result<void>> give_up(Runner& runner, TaskRecord record, workflow::Library::DefinitionPtr definition,
                                SyncedBodies synced, Role role, std::string text) {
    const auto* project = runner.world.projects.find(record.task.project);
    const auto facts = co_await facts_of(runner.world, record, *definition);
    const engine::TransitionFacts given{record.task, synced.artifacts, record.entry_sections, facts};
    const auto handover = engine::handover(*definition, given);
    if (project && *settings_of(runner.world, *project).advance_idle) {
        if (auto decision = engine::decide_idle(*definition, given)) {
            const auto by = daemon_for("idle " + name_text(role));
            auto done =
                co_await runner.transitions.perform(record, definition, std::move(*decision), std::move(synced), by);
            if (done) co_return Result<void>{};
            co_return tell(runner, record, role, "is idle, and cannot go on: " + done.error().message,
                           attach_command(record));
        }
    }
    if (handover) co_return tell_of_handover(runner, record, role, *handover, ", although it was reminded twice");
    co_return tell(runner, record, role, "is idle, although it was reminded twice: \"" + text + "\"",
                   attach_command(record));
}

}  // namespace

engine::IdleTimes idle_times(const World& world, const TaskRecord& record, Role role) {
    const auto* project = world.projects.find(record.task.project);
    const auto settings = settings_of(world, project ? *project : Project{});
    engine::IdleTimes times;
    times.idle_after = std::chrono::seconds(*settings.idle_after);
    times.remind_again = std::chrono::seconds(*settings.remind_again);
    const auto* run = record.run_of(role);
    const auto harness = run ? world.harnesses.find(run->harness) : Result<agents::HarnessEntry>(Error{});
    const bool own = project && project->settings.idle_after;
    if (harness && harness->harness.idle_after && !own) times.idle_after = *harness->harness.idle_after;
    return times;
}

Awaitable<Result<void>> clear_idle(Turns& turns, TaskRecord& record) {
    (void)clear(record, NoticeKind::agent_idle);
    co_return turns.try_save(record);
}

Awaitable<Result<std::optional<engine::Hold>>> remind(Runner& runner, TaskRecord& record, engine::step::Remind step) {
    auto& world = runner.world;
    const engine::Hold until_change;
    const auto role = step.role;
    const auto body = record.body_hash;
    CO_TRY(const auto definition, runner.turns.definition_of(record.task));
    CO_TRY(auto synced, co_await runner.turns.sync_bodies(record));
    const auto facts = co_await facts_of(world, record, *definition);
    const engine::TransitionFacts given{record.task, synced.artifacts, record.entry_sections, facts};
    if (step.unread) {
        const auto handover = engine::handover(*definition, given);
        if (!handover) co_return until_change;
        if (record.body_hash != body) co_return engine::Hold{step.patience};
        const auto time = spoken(std::chrono::duration_cast<std::chrono::seconds>(step.patience));
        CO_TRY(
            tell_of_handover(runner, record, role, *handover, " for " + time + ", and Orange cannot see what it does"));
        co_return std::nullopt;
    }
    auto text = engine::forgotten(*definition, given);
    const auto seen = runner.activities.of(record, role);
    if (!text || !seen) co_return until_change;
    const auto person = co_await person_at(world, record, role);
    const auto entered = record.entered_at.value_or(record.task.updated_at);
    const auto since = std::max(seen->since, entered);
    const auto next =
        engine::idle_step(*text, record.reminder, entered, since, person.touched_at, idle_times(world, record, role));
    const auto left = std::chrono::ceil<milliseconds>(next.at - world.clock.now());
    if (left.count() > 0) co_return engine::Hold{left};
    co_await runner.activities.update_in_turn(record);  // the agent may have begun to work
    if (!runner.reconciler.is_reminder_due(record)) co_return until_change;
    if (person.has_draft) {
        CO_TRY(tell(runner, record, role, "is idle, and Orange cannot remind it: its prompt is not empty",
                    attach_command(record)));
    } else if (next.kind == engine::IdleStep::Kind::remind) {
        CO_TRY(type_reminder(runner, record, role, std::move(*text)));
    } else {
        CO_TRY(co_await give_up(runner, record, definition, std::move(synced), role, std::move(*text)));
    }
    co_return std::nullopt;
}

}  // namespace orange
