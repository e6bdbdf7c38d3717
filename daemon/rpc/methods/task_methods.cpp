#include "common/rpc/task_methods.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/methods/attempt_specs.hpp"
#include "daemon/rpc/methods/task_create.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/pulls/pulls.hpp"

/// Methods that create, move or end tasks.
namespace orange::rpc {
namespace {

Awaitable<Result<TaskReply>> update(Api& api, TaskUpdate params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    Edit edit = params;
    CO_TRY(engine::may_set(edit, call.caller));
    if (params.status) {
        engine::Request request;
        request.to = *params.status;
        request.force = params.force;
        CO_TRY(auto moved, co_await api.runner().requests.move(id, request, call.caller, std::move(edit)));
        co_return api.reply(id, std::move(moved));
    }
    if (!edit.any()) {
        co_return Error(ErrorCode::invalid_argument,
                        "nothing to update; give --status, --summary, --branch or another field");
    }
    CO_TRY(auto edited, co_await api.runner().requests.edit(id, std::move(edit), call.caller));
    co_return api.reply(id, std::move(edited));
}

/// Moves a task to a goal: complete, stuck and cancel are other names of `update --status`.
Awaitable<Result<TaskReply>> move(Api& api, TaskSelector selector, Call call, engine::Goal goal, bool force = false,
                                  store::Naming by = store::Naming::anything) {
    CO_TRY(const auto id, api.select(selector, call, by));
    engine::Request request;
    request.goal = goal;
    request.force = force;
    Edit nothing;
    CO_TRY(auto moved, co_await api.runner().requests.move(id, request, call.caller, std::move(nothing)));
    co_return api.reply(id, std::move(moved));
}

std::string ids_of(const std::vector<TaskId>& ids, std::string_view separator) {
    std::vector<std::string> texts;
    for (const auto& id : ids) texts.push_back(id.value);
    return join(texts, separator);
}

/// Before a task is cancelled: needs_force if it has open sub-tasks and the call must ask about them. Returns a
/// sentence about the sub-tasks that go on.
Result<std::vector<std::string>> ask_about_children(Api& api, const TaskId& id, const TaskCancel& params) {
    std::vector<std::string> notes;
    const auto open = open_below(api.world(), id);
    if (open.empty() || params.with_children) return notes;
    const bool one = open.size() == 1;
    const auto have = counted(open.size(), "sub-task") + (one ? " has" : " have") + " not ended";
    if (params.ask_children) {
        return Error(ErrorCode::needs_force,
                     have + (one ? ". To cancel it, too:" : ". To cancel them, too:") + "\n  orange task cancel " +
                         id.value + " --with-children",
                     {{"children", ids_of(open, " ")}});
    }
    notes.push_back(have + (one ? " and goes on: " : " and go on: ") + ids_of(open, ", "));
    return api.sentences(std::move(notes));
}

/// Cancels the sub-tasks after their parent, which can get no new ones then. Returns the ids of those that it
/// cancelled. If it fails or is interrupted, the same call continues with the rest.
Awaitable<Result<std::vector<TaskId>>> cancel_children(Api& api, TaskId id, TaskCancel params, Call call) {
    std::vector<TaskId> cancelled;
    for (auto open = open_below(api.world(), id); !open.empty(); open = open_below(api.world(), id)) {
        TaskSelector selector;
        selector.id = open.front().value;
        const auto done =
            co_await move(api, selector, call, engine::Goal::cancelled, params.force, store::Naming::id_or_branch);
        if (!done) {
            co_return in_context("not all of its sub-tasks are cancelled; the same command goes on with the rest",
                                 done.error());
        }
        cancelled.push_back(open.front());
    }
    co_return cancelled;
}

/// Returns a sentence for each cancelled sub-task, and for its branch if it has work.
Awaitable<std::vector<std::string>> cancelled_notes(Api& api, std::vector<TaskId> cancelled) {
    std::vector<std::string> notes;
    for (const auto& id : cancelled) {
        notes.push_back("cancelled sub-task " + id.value);
        const auto record = api.world().tasks.read(id);
        if (!record || !(*record)->ended) continue;
        const auto kept = co_await kept_work(api.world(), **record);
        notes.insert(notes.end(), kept.begin(), kept.end());
    }
    co_return api.sentences(std::move(notes));
}

/// Returns the tasks that wait for one of the cancelled tasks and are not cancelled themselves.
std::vector<TaskId> waiting_for(Api& api, const std::vector<TaskId>& cancelled) {
    std::vector<TaskId> waiting;
    const auto has = [](const std::vector<TaskId>& ids, const TaskId& id) {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    for (const auto& id : cancelled) {
        for (const auto& other : api.world().tasks.blocked_by(id)) {
            const auto record = api.world().tasks.awake(other);
            const bool waits = record && has(record->waits_for(), id);
            if (waits && !has(cancelled, other) && !has(waiting, other)) waiting.push_back(other);
        }
    }
    return waiting;
}

/// Starts the task that waits longest for the workspace that has become free, or says how.
Awaitable<void> tell_of_next(Api& api, bool starts, Caller by, TaskReply& reply) {
    const auto project = reply.task.fields.project;
    auto waiting = api.world().tasks.queue(project);
    if (waiting.empty()) co_return;
    const auto next = waiting.front();
    const auto name = api.world().tasks.short_id(next);
    if (starts) {
        auto started = co_await api.runner().queue.spawn(next, std::move(by));
        if (!started) {
            reply.notes.push_back(name + " could not be started: " + started.error().message);
        } else if (started->notes.empty()) {
            reply.notes.push_back("started " + name + ", which waited longest");
        } else {
            reply.notes.insert(reply.notes.end(), started->notes.begin(), started->notes.end());
        }
        co_return;
    }
    reply.notes.push_back(
        counted(waiting.size(), "task") + " of " + project + " wait" + (waiting.size() == 1 ? "s" : "") +
        " for a workspace. To start the next one (--next does it at once):\n  orange task spawn " + name);
}

Awaitable<Result<TaskReply>> cancel(Api& api, TaskCancel params, Call call) {
    CO_TRY(const auto id, api.select(params, call, store::Naming::id_or_branch));
    params.id = id.value;
    CO_TRY(auto below, ask_about_children(api, id, params));
    const auto* before = api.world().tasks.brief(id);
    const bool only_children =
        params.with_children && before && before->ended && !before->unfinished && !open_below(api.world(), id).empty();
    auto reply = TaskReply{};
    if (!only_children) {
        CO_TRY(reply,
               co_await move(api, params, call, engine::Goal::cancelled, params.force, store::Naming::id_or_branch));
    }
    auto cancelled = std::vector<TaskId>();
    if (params.with_children) {
        CO_TRY(cancelled, co_await cancel_children(api, id, params, call));
        below = co_await cancelled_notes(api, cancelled);
    }
    if (only_children) {
        CO_TRY(reply, api.reply(id, Outcome{}));
    }
    reply.notes.insert(reply.notes.end(), below.begin(), below.end());
    cancelled.push_back(id);
    if (const auto waiting = waiting_for(api, cancelled); !waiting.empty()) {
        const auto rest = api.sentences({counted(waiting.size(), "task") + " waited for " +
                                         (cancelled.size() == 1 ? "it" : "them") + " and will not start by " +
                                         (waiting.size() == 1 ? "itself: " : "themselves: ") + ids_of(waiting, ", ")});
        reply.notes.insert(reply.notes.end(), rest.begin(), rest.end());
    }
    if (const auto record = api.world().tasks.read(reply.task.fields.id); record && (*record)->ended) {
        auto kept = api.sentences(co_await kept_work(api.world(), **record));
        if (kept.empty() && cancelled.size() == 1) kept.emplace_back("there was no work to keep");
        reply.notes.insert(reply.notes.end(), kept.begin(), kept.end());
    }
    co_await tell_of_next(api, params.next, call.caller, reply);
    co_return reply;
}

/// Returns how a task goes on with the work of an ended one.
Result<TaskCreate> next_of(Api& api, const TaskRecord& record) {
    TaskCreate next;
    next.like = record.task.id.value;
    TRY(auto context, context_with(api.world(), record, {"Plan", "Handoff"}));
    const auto name = api.world().tasks.short_id(record.task.id);
    const bool has_parts =
        context.find("### Plan") != std::string::npos || context.find("### Handoff") != std::string::npos;
    next.context = "This task goes on with task " + name + ", which has ended. Its work is on this branch." +
                   (has_parts ? " Its plan and its handoff are below." : "") + "\n\n" + context;
    const auto above = task_above(api.world(), record);  // it is no attempt any more
    const auto* parent = api.world().tasks.brief(above);
    if (parent && !parent->ended) next.parent = above.value;
    return next;
}

/// Answers a repeated call with the task that goes on there already.
Result<TaskRestore::Reply> restored_before(Api& api, const TaskId& next, const std::string& branch) {
    TaskRestore::Reply reply;
    TRY(reply.task, api.view(next));
    reply.branch = branch;
    reply.notes = api.sentences({"task " + next.value + " goes on there already"});
    return reply;
}

/// Notes in the old task where its work goes on.
Awaitable<void> note_next(Api& api, TaskId old, TaskId next) {
    const auto turn = co_await api.runner().turns.begin_turn(old);
    auto record = api.runner().turns.record_of(old);
    if (!turn || !record) co_return;
    record->continued_by = next;
    (void)api.runner().turns.try_save(*record);
}

Awaitable<Result<TaskRestore::Reply>> restore(Api& api, TaskRestore params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(const auto record, api.runner().turns.record_of(id));
    auto branch = params.branch.value_or("");
    TaskCreate next;
    if (params.create) {
        CO_TRY(next, next_of(api, record));
        const auto name = branch.empty() ? record.task.branch + "-restored" : branch;
        const auto holder = api.world().tasks.on_branch(record.task.project, name);
        if (holder) {
            co_await note_next(api, id, holder->task);
            co_return restored_before(api, holder->task, name);
        }
    }
    CO_TRY(auto restored, co_await restore_work(api.world(), record, std::move(branch)));
    TaskRestore::Reply reply;
    reply.branch = std::move(restored.branch);
    reply.commit = std::move(restored.commit);
    auto notes = std::move(restored.notes);
    if (!params.create) {
        notes.push_back("To look at it:\n  orange task diff " + id.value);
        notes.push_back("To go on with it in a new task:\n  orange task restore " + id.value + " --create" +
                        (params.branch ? " --branch " + shell_word(reply.branch) : ""));
        reply.notes = api.sentences(std::move(notes));
        co_return reply;
    }
    next.branch = reply.branch;
    if (!task_above(api.world(), record).empty() && !next.parent) {
        notes.emplace_back("its parent has ended, so it is no sub-task, and is merged into the default branch");
    }
    auto created = co_await create_task(api, std::move(next), call);
    if (!created) {
        auto error = created.error();
        error.message = "the work is on branch " + reply.branch + ", but no task was created: " + error.message;
        co_return error;
    }
    co_await note_next(api, id, created->task.fields.id);
    reply.task = std::move(created->task);
    reply.notes = api.sentences(std::move(notes));
    reply.notes.insert(reply.notes.end(), created->notes.begin(), created->notes.end());
    if (created->spawn_error) reply.notes.push_back("no agent works on it: " + *created->spawn_error);
    co_return reply;
}

Awaitable<Result<TaskReply>> update_branch_of(Api& api, TaskUpdateBranch params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(auto updated, co_await update_branch(api.runner(), id, call.caller));
    co_return api.reply(id, std::move(updated));
}

Awaitable<Result<TaskReply>> create_pr(Api& api, TaskCreatePr params, Call call) {
    CO_TRY(const auto selected, api.select(params, call));
    CO_TRY(const auto id, picked_instead(api.world(), selected));
    if (params.title) CO_TRY(check_summary(*params.title));
    pulls::PullText text{std::move(params.title), std::move(params.body), params.draft};
    CO_TRY(auto opened, co_await create_pull_request(api.runner(), id, std::move(text), call.caller));
    co_return api.reply(id, std::move(opened));
}

Awaitable<Result<TaskReply>> spawn(Api& api, TaskSpawn params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(auto spawned, co_await api.runner().queue.spawn(id, call.caller));
    if (const auto record = api.world().tasks.awake(id); record && !record->attempts.empty()) {
        co_await start_attempts(api, id, spawned);
        co_return api.reply(id, std::move(spawned));
    }
    auto reply = api.reply(id, spawned);
    if (spawned.spawn_error.empty()) spawned.spawn_error = co_await api.runner().exits.failed_start(id);
    if (spawned.spawn_error.empty()) co_return reply;
    co_return api.reply(id, std::move(spawned));
}

/// Respawns the agents of a task, and adds the task, as it was right after that, to `tasks`.
Awaitable<Result<Outcome>> respawn_one(Api& api, TaskId id, TaskRespawn params, Caller by,
                                       std::vector<TaskView>& tasks) {
    CO_TRY(auto done, co_await api.runner().respawns.respawn(id, std::move(by), params.fresh));
    auto shown = api.view(id);
    auto failure = co_await api.runner().exits.failed_start(id);
    if (!failure.empty()) co_return Error(ErrorCode::external_failed, std::move(failure));
    if (shown) tasks.push_back(std::move(*shown));
    co_return done;
}

Awaitable<Result<TaskRespawn::Reply>> respawn(Api& api, TaskRespawn params, Call call) {
    TaskRespawn::Reply reply;
    if (!params.all) {
        CO_TRY(const auto id, api.select(params, call));
        CO_TRY(auto done, co_await respawn_one(api, id, params, call.caller, reply.tasks));
        reply.notes = api.sentences(std::move(done.notes));
        co_return reply;
    }
    for (const auto& id : api.runner().respawns.with_dead_agents()) {
        auto done = co_await respawn_one(api, id, params, call.caller, reply.tasks);
        if (done) continue;
        reply.notes.push_back(api.world().tasks.with_short_ids(id.value + ": " + done.error().message));
    }
    if (reply.tasks.empty() && reply.notes.empty()) reply.notes = {"no agent is dead"};
    co_return reply;
}

Awaitable<Result<TaskCheck::Reply>> check(Api& api, TaskCheck params, Call call) {
    CO_TRY(const auto id, api.select(params, call, store::Naming::id_or_branch));
    CheckOrder order;
    CO_TRY(auto report, co_await api.runner().checks.run(id, std::move(order)));
    TaskCheck::Reply reply;
    CO_TRY(reply.task, api.view(id));
    reply.passed = report.passed();
    reply.commit = std::move(report.commit);
    reply.failed = std::move(report.failed);
    reply.why = std::move(report.why);
    reply.exit_status = report.exit_status;
    reply.output = std::move(report.tail);
    reply.log = report.log.string();
    reply.seconds = report.seconds;
    co_return reply;
}

Result<void> check_lines(int lines) {
    constexpr int k_most_lines = 5000;
    if (lines >= 0 && lines <= k_most_lines) return {};
    return {ErrorCode::invalid_argument, "lines must be from 0 to 5000"};
}

Result<PreviewReply> preview_of(Api& api, const TaskId& id, int lines, std::optional<std::int64_t> after) {
    const auto& previews = api.runner().previews;
    PreviewReply reply;
    TRY(reply.task, api.view(id));
    reply.state = "none";
    const auto* preview = previews.of(id);
    if (preview == nullptr) return reply;
    reply.state = preview->state;
    reply.command = preview->command;
    reply.port = preview->port;
    reply.url = preview->url;
    reply.since = preview->since;
    reply.exit_status = preview->exit_status;
    reply.why = preview->why;
    auto output = previews.output_of(id, static_cast<std::size_t>(lines), after);
    reply.output = std::move(output.text);
    reply.printed = output.printed;
    return reply;
}

Awaitable<Result<PreviewReply>> try_work(Api& api, TaskTry params, Call call) {
    CO_TRY(check_lines(params.lines));
    CO_TRY(const auto id, api.select(params, call));
    auto& previews = api.runner().previews;
    std::vector<std::string> notes;
    if (params.stop) {
        const bool did_run = co_await previews.end(id);
        notes.emplace_back(did_run ? "it was stopped" : "it does not run");
    } else {
        CO_TRY(notes, co_await previews.start(id));
    }
    CO_TRY(auto reply, preview_of(api, id, params.lines, std::nullopt));
    reply.notes = std::move(notes);
    co_return reply;
}

Awaitable<Result<PreviewReply>> preview(Api& api, TaskPreview params, Call call) {
    CO_TRY(check_lines(params.lines));
    CO_TRY(const auto id, api.select(params, call));
    if (params.wait) {
        const auto waiter = std::make_shared<Previews::Waiter>(api.world().executor);
        const int end = call.sink->on_end([waiter] {
            waiter->is_gone = true;
            waiter->woken.notify();
        });
        co_await api.runner().previews.wait(id, params.after, waiter);
        call.sink->forget(end);
        if (waiter->is_gone) {
            co_return Error(ErrorCode::unavailable, "the daemon stopped while task.preview was waiting; ask again");
        }
    }
    co_return preview_of(api, id, params.lines, params.after);
}

Awaitable<Result<TaskDelete::Reply>> remove(Api& api, TaskDelete params, Call call) {
    CO_TRY(const auto id, api.select(params, call, store::Naming::id_or_branch));
    params.id = id.value;
    TaskDelete::Reply reply;
    reply.id = id.value;
    reply.short_id = api.world().tasks.short_id(id);
    const auto* task = api.world().tasks.brief(id);
    if (params.force && task && !task->ended) {
        CO_TRY(auto cancelled, co_await move(api, params, call, engine::Goal::cancelled, true));
        reply.notes = std::move(cancelled.notes);
    }
    CO_TRY(co_await api.runner().reconciler.pass_on_end(id));
    const auto* now = api.world().tasks.brief(id);
    const auto parent = now ? now->parent : TaskId{};
    const auto open = open_below(api.world(), id);
    CO_TRY(auto removed, co_await api.runner().requests.remove(id, call.caller, params.force));
    api.runner().reconciler.wake(parent);
    if (!open.empty()) removed.notes.push_back("its sub-tasks go on: " + ids_of(open, ", "));
    const auto notes = api.sentences(std::move(removed.notes));
    reply.notes.insert(reply.notes.end(), notes.begin(), notes.end());
    co_return reply;
}

Awaitable<Result<TaskReply>> send(Api& api, TaskSend params, Call call) {
    CO_TRY(const auto id, api.select_for_text(params, call, params.text, "send"));
    const auto role = role_from(params.role.value_or("worker"));
    if (role != Role::worker && role != Role::reviewer) {
        co_return Error(ErrorCode::invalid_argument, "--role must be worker or reviewer");
    }
    if (trim(params.text).empty()) co_return Error(ErrorCode::invalid_argument, "the message is empty");
    CO_TRY(api.check_files(params.files, call));
    CO_TRY(auto sent, co_await api.runner().outbox.send(id, *role, params.text, params.files));
    co_return api.reply(id, std::move(sent));
}

Awaitable<Result<TaskReply>> approve(Api& api, TaskApprove params, Call call) {
    CO_TRY(const auto id, api.select(params, call, store::Naming::id_or_branch));
    CO_TRY(const auto record, api.runner().turns.record_of(id));
    const bool subtasks =
        record.unapproved || std::ranges::any_of(children_of(api.world(), record), &engine::Child::unapproved);
    const auto definition = api.runner().turns.definition_of(record.task);
    if (!subtasks && definition && engine::approval_target(**definition, record.task) != nullptr) {
        const auto drafts = api.runner().comments.counts(record).drafts;
        CO_TRY(auto moved,
               co_await move(api, params, std::move(call), engine::Goal::approved, false, store::Naming::id_or_branch));
        if (drafts > 0) {
            moved.notes.push_back(
                counted(static_cast<std::size_t>(drafts), "comment") +
                " on its lines were not sent, and are still drafts. To read them:\n  orange comments " + id.value);
        }
        co_return moved;
    }
    CO_TRY(auto done, co_await api.runner().queue.approve(id, call.caller));
    co_return api.reply(id, std::move(done));
}

Awaitable<Result<TaskReply>> acknowledge(Api& api, TaskAck params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(auto done, co_await api.runner().requests.acknowledge(id));
    api.runner().reconciler.start_over(id);
    co_return api.reply(id, std::move(done));
}

}  // namespace

void add_task_methods(MethodTable& table, Api& api) {
    using enum ErrorCode;
    const std::vector<ErrorCode> moving = {not_found, illegal_transition, gate_failed,    guard_failed,
                                           forbidden, needs_force,        pool_exhausted, external_failed};
    table.add<TaskUpdate>(Access::agent, "Moves a task to another status, or changes its fields; all or nothing.",
                          moving, api, update);
    table.add<TaskComplete>(
        Access::agent, "Hands the work over for review.", moving,
        [&api](TaskComplete params, Call call) { return move(api, params, std::move(call), engine::Goal::review); });
    table.add<TaskStuck>(
        Access::agent, "Moves a task to stuck: a human has to help.", moving,
        [&api](TaskStuck params, Call call) { return move(api, params, std::move(call), engine::Goal::stuck); });
    table.add<TaskCancel>(Access::human, "Ends a task without merging; uncommitted work is kept.", moving, api, cancel);
    table.add<TaskUpdateBranch>(Access::human, "Merges the default branch into a task's branch, in its worktree.",
                                {not_found, conflict, external_failed}, api, update_branch_of);
    table.add<TaskCreatePr>(Access::human, "Pushes a task's branch, and opens its pull request or adopts the open one.",
                            {not_found, conflict, external_failed, unavailable}, api, create_pr);
    table.add<TaskRestore>(Access::human, "Makes a branch of an ended task's work, uncommitted work included.",
                           {not_found, conflict, invalid_argument, external_failed}, api, restore);
    table.add<TaskSpawn>(Access::human, "Starts a pending task, or queues it for the next free workspace.", moving, api,
                         spawn);
    table.add<TaskRespawn>(Access::human, "Starts the dead agent of a task's state again.",
                           {not_found, conflict, external_failed}, api, respawn);
    table.add<TaskCheck>(Access::human, "Runs the project's checks on the tip of a task's branch.",
                         {not_found, conflict, external_failed}, api, check);
    table.add<TaskTry>(Access::human, "Runs the project's dev command in a task's worktree, or ends it.",
                       {not_found, conflict, invalid_argument, external_failed}, api, try_work);
    table.add<TaskPreview>(Access::read, "How the dev command of a task fares, and what it has printed.",
                           {not_found, invalid_argument, unavailable}, api, preview);
    table.add<TaskDelete>(Access::human, "Removes an ended task's files.", {not_found, needs_force, conflict}, api,
                          remove);
    table.add<TaskSend>(Access::human, "Sends a message to a living agent.", {not_found, conflict, forbidden}, api,
                        send);
    table.add<TaskApprove>(
        Access::human,
        "Lets the sub-tasks of a task start that its agent has created, or one of them; else moves a task on whose "
        "plan "
        "waits for its human's approval.",
        moving, api, approve);
    table.add<TaskAck>(Access::human, "Clears a task's attention and its alarm.", {not_found}, api, acknowledge);
}

}  // namespace orange::rpc
