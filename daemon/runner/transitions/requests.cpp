#include "daemon/runner/transitions/requests.hpp"

#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/engine/permissions.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

bool is_cancelled(const Turns& turns, const Task& task) {
    const auto definition = turns.definition_of(task);
    return definition && (*definition)->means(task.status, engine::Meaning::cancelled);
}

}  // namespace

bool Requests::is_open(const TaskId& id, engine::Request request, const Caller& by) {
    const auto record = world_.tasks.awake(id);
    if (!record || by.role != Role::human) return false;
    const auto definition = turns_.definition_of(record->task);
    if (!definition) return false;
    request.by = by.role;
    auto to = engine::target_of(**definition, record->task, request);
    if (!to) return false;
    request.to = std::move(*to);
    const engine::Artifacts none;
    const engine::TransitionFacts given{record->task, none, record->entry_sections};
    return std::holds_alternative<engine::Decision>(engine::decide_request(**definition, given, request));
}

Awaitable<Result<Outcome>> Requests::move(TaskId id, engine::Request request, Caller by, Edit edit) {
    // A cancellation does not wait for the end of a setup command, which holds the lock and may take long.
    if (request.goal == engine::Goal::cancelled && is_open(id, request, by)) {
        world_.pool.stop_acquire(id);
        runner_.checks.stop(id);
    }
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    auto& record = turn.record;
    CO_TRY(runner_.edits.leave_lost_workflow(record, edit, by));
    CO_TRY(co_await runner_.transitions.finish_interrupted(record));
    CO_TRY(engine::may_change(record, by, request.force));
    if (request.goal == engine::Goal::cancelled && request.force && !edit.any() && is_cancelled(turns_, record.task)) {
        co_return Outcome{{"the task is already cancelled; nothing was changed"}, {}};
    }
    CO_TRY(const auto given_up, co_await runner_.merges.give_up(record, request.force));
    const bool was_asked = record.asked.has_value(), edits = edit.any();
    std::optional<engine::AwaitChecks> checks;
    auto moved = co_await runner_.transitions.request(std::move(record), request, by, std::move(edit), &checks);
    if (moved && was_asked) runner_.checks.stop(id);  // the checks of the former request
    if (checks) {
        if (edits) {
            co_return Error(ErrorCode::conflict, moved.error().message +
                                                     ". The task moves when they have passed, so change its other "
                                                     "fields first, with a command of its own");
        }
        CO_TRY(turn.record, turns_.record_of(id));
        CO_TRY(runner_.gates.ask(turn.record, *checks, request, by));
        turn.lock.release();
        moved = co_await runner_.gates.wait(id);
    }
    if (moved) moved->notes.insert(moved->notes.begin(), given_up.begin(), given_up.end());
    co_return moved;
}

Awaitable<Result<Outcome>> Requests::edit(TaskId id, Edit edit, Caller by) {
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    auto& record = turn.record;
    CO_TRY(runner_.edits.leave_lost_workflow(record, edit, by));
    CO_TRY(co_await runner_.transitions.finish_interrupted(record));
    CO_TRY(engine::may_change(record, by, false));
    const bool was_blocked = record.blocked();
    const auto task = record.task;
    // An edit of an agent does not give up a merge. A new workflow does not either: it is the way out for a task that
    // its own workflow cannot take to its end.
    if (edit.branch || (by.role == Role::human && !edit.workflow))
        CO_TRY(co_await runner_.merges.give_up(record, false));
    CO_TRY(auto edited, co_await runner_.edits.apply(std::move(record), edit, by));
    auto& changed = edited.record;
    if (!(changed.task == task)) changed.task.updated_at = world_.clock.now();
    const bool unblocked = was_blocked && !changed.blocked();
    if (gone_text(world_, changed).empty()) (void)clear(changed, NoticeKind::blocker_gone);
    auto notes = co_await runner_.edits.commit(changed, by);
    if (!notes) {
        co_await runner_.edits.undo(std::move(edited));
        co_return notes.error();
    }
    if (edit.budget) runner_.budgets.look();
    Outcome outcome;
    outcome.notes = std::move(*notes);
    if (unblocked && changed.queued) runner_.queue.schedule(changed.task.project);
    if (unblocked && !changed.queued) {
        outcome.notes.push_back("it waits for no other task now. To start its agent:\n  orange task spawn " + id.value);
    }
    co_await turns_.show(changed, &outcome);
    co_return outcome;
}

Awaitable<Result<Outcome>> Requests::acknowledge(TaskId id) {
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    auto& record = turn.record;
    co_await watch_programs(world_, record);
    Outcome outcome;
    if (record.notices.empty() && !record.alarmed() && record.left.empty()) {
        outcome.notes = {"there was nothing to acknowledge"};
        co_return outcome;
    }
    engine::clear_all(record);
    for (const auto& each : std::exchange(record.left, {})) {
        outcome.notes.push_back("Orange does not try any more to end the run " +
                                agents::name_in_executor(each.run.value) + " of executor " + each.executor);
    }
    for (auto& message : record.outbox) message.acknowledged = message.told;
    auto seen = std::exchange(record.programs_changed, {});
    for (auto& name : std::exchange(record.harnesses_changed, {})) seen.push_back("harness " + name);
    if (!seen.empty()) outcome.notes.push_back("acknowledged as changed: " + printable(join(seen, ", ")));
    record.task.updated_at = world_.clock.now();
    CO_TRY(turns_.try_save(record));
    co_await turns_.show(record, &outcome);
    co_return outcome;
}

Result<void> Requests::remove_folder(const TaskId& id, const std::string& project, const Caller& by) {
    TRY(world_.tasks.remove(id));
    world_.task_files.forget(id);
    runner_.workspaces.note_deleted(id);
    HistoryEvent event;
    event.type = "task.deleted";
    event.fields = {{"by", name_text(by.role)}};
    world_.journal.publish(id, project, event);
    return {};
}

/// Deletes a task that rests and whose record cannot be read. Nothing else is to be done for a task that rests.
Awaitable<Result<Outcome>> Requests::remove_unread(TaskId id, Caller by) {
    const auto lock = co_await turns_.lock(id);
    const auto* task = world_.tasks.brief(id);
    const auto read = world_.tasks.read(id);
    if (!task || read) co_return Error(ErrorCode::conflict, "task " + id.value + " was changed meanwhile; try again");
    if (read.error().code == ErrorCode::conflict) co_return read.error();  // the file is whole, and says otherwise
    const auto branch = task->branch;
    CO_TRY(remove_folder(id, task->project, by));
    Outcome outcome;
    outcome.notes = {"its record could not be read (" + read.error().message + ")",
                     "branch " + branch + " is kept, unless its merge has removed it"};
    co_return outcome;
}

Awaitable<Result<Outcome>> Requests::remove(TaskId id, Caller by, bool force) {
    auto begun = co_await runner_.transitions.begin_turn(id);
    if (!begun) {
        if (!world_.tasks.brief(id) || world_.tasks.awake(id)) co_return begun.error();
        co_return co_await remove_unread(std::move(id), std::move(by));
    }
    auto turn = std::move(*begun);
    auto& record = turn.record;
    CO_TRY(auto given_up, co_await runner_.merges.give_up(record, force));
    const auto definition = turns_.definition_of(record.task);
    const auto* state = definition ? (*definition)->state(record.task.status) : nullptr;
    const bool ended = state ? state->terminal : store::has_ended(record);
    if (ended && (record.task.workspace || !record.runs.empty())) {  // its release had failed
        CO_TRY(co_await runner_.workspaces.release_owed(record));
        runner_.queue.schedule(record.task.project);
    }
    if (!ended) {
        co_return Error(ErrorCode::needs_force,
                        "task " + id.value + " has not ended (status " + record.task.status +
                            ") and cannot be deleted. Cancel it first, or add --force:\n  orange task cancel " +
                            id.value);
    }
    if (!record.left.empty()) CO_TRY(co_await runner_.placements.stop_left(record, Placements::Wait::to_the_end));
    CO_TRY(remove_folder(id, record.task.project, by));
    Outcome outcome;
    outcome.notes = std::move(given_up);
    const bool retired = record.merge && record.merge->phase == MergePhase::done && !record.merge->keep_branch;
    outcome.notes.push_back(retired ? "the merged branch is kept as refs/orange/" + id.value + "/merged"
                                    : "branch " + record.task.branch + " is kept");
    co_return outcome;
}

}  // namespace orange
