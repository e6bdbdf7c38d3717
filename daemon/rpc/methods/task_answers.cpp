#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/store/task_texts.hpp"

/// Calls of a human about a task that needs attention: answers, rejects, looks at the work, stops and restarts agents.
namespace orange::rpc {
namespace {

constexpr int k_dialog_lines = 15;

/// Returns the role of the agent that asks in the task's state.
Role asker(const engine::Definition& definition, const TaskRecord& record) {
    const auto* state = definition.state(record.task.status);
    return state && state->agent ? *state->agent : Role::worker;
}

bool can_be_answered(const engine::Definition& definition, const TaskRecord& record) {
    const auto* state = definition.state(record.task.status);
    return state && (state->meaning == engine::Meaning::clarification || state->needs == Need::answer) &&
           record.question_stands();
}

/// Makes the error for an answer to an agent whose program asks for something: "yes" to a question must not run a
/// command that came meanwhile.
Error permit_refusal(Api& api, const TaskId& id) {
    std::string requests;
    for (const auto& each : api.runner().permits.of(id)) {
        const auto name = id.value + "." + std::to_string(each->number);
        requests += "\n" + each->request.tool + ": " + each->request.line + "\n  orange allow " + name +
                    "\n  orange deny " + name + " \"...\"";
    }
    return {ErrorCode::conflict,
            "the answer is not typed, because the agent's program asks for something else:" + requests};
}

/// Makes the error for an answer to an agent that shows a dialog: typed text would be lost there, and Enter would
/// approve the dialog.
Awaitable<Error> dialog_refusal(Api& api, TaskRecord record, Role role) {
    std::string shown;
    if (const auto* run = record.run_of(role)) {
        const auto pane = run->pane_id;
        const auto screen = co_await api.world().tmux.capture(pane, k_dialog_lines);
        if (screen) shown = "\n" + std::string(trim(*screen)) + "\n";
    }
    co_return Error(ErrorCode::conflict, "the " + name_text(role) + " shows a dialog. Answer it in its window:" +
                                             shown + "\n  orange task attach " + record.task.id.value);
}

Awaitable<Result<TaskReply>> answer(Api& api, TaskAnswer params, Call call) {
    CO_TRY(const auto id, api.select_for_text(params, call, params.text, "reply"));
    if (trim(params.text).empty()) co_return Error(ErrorCode::invalid_argument, "the answer is empty");
    CO_TRY(api.check_files(params.files, call));
    CO_TRY(const auto record, api.runner().turns.record_of(id));
    CO_TRY(const auto definition, api.runner().turns.definition_of(record.task));
    const auto role = asker(*definition, record);
    const bool alive = api.runner().agents.alive(record, role);
    const auto* run = record.run_of(role);
    if (run != nullptr && api.runner().permits.waits(id, run->run) && !api.runner().permits.of(id).empty())
        co_return permit_refusal(api, id);
    if (alive && co_await api.runner().outbox.shows_dialog(record, role)) {
        co_return co_await dialog_refusal(api, record, role);
    }
    if (!can_be_answered(*definition, record)) {
        const auto next = alive ? " To send it a message:\n  orange task send " + id.value + " \"...\""
                                : " What the task is waiting for:\n  orange task why " + id.value;
        co_return Error(ErrorCode::conflict, "task " + id.value + " has the status " + record.task.status +
                                                 ", and its agent has no open question." + next);
    }
    if (alive) {
        CO_TRY(auto sent, co_await api.runner().outbox.send(id, role, params.text, params.files));
        co_return api.reply(id, std::move(sent));
    }
    CO_TRY(co_await api.runner().outbox.leave(id, role, params.text, params.files));
    CO_TRY(auto started, co_await api.runner().respawns.respawn(id, call.caller));
    started.notes.push_back("your answer is its first message");
    co_return api.reply(id, std::move(started));
}

bool has_drafts(Api& api, const TaskId& id) {
    const auto record = api.runner().turns.record_of(id);
    return record && api.runner().comments.counts(*record).drafts > 0;
}

Awaitable<Result<TaskReply>> reject(Api& api, TaskReject params, Call call) {
    // A task alone is enough if it has comments to send.
    auto selected = api.select_for_text(params, call, params.feedback, "reject");
    if (!selected && !params.id) {
        TaskSelector named;
        named.id = params.feedback;
        if (const auto task = api.select(named, call, store::Naming::id_or_branch); task && has_drafts(api, *task)) {
            selected = *task;
            params.feedback.clear();
        }
    }
    CO_TRY(const auto id, std::move(selected));
    if (trim(params.feedback).empty() && !has_drafts(api, id)) {
        co_return Error(ErrorCode::invalid_argument, "say what should change:\n  orange task reject " + id.value +
                                                         " \"...\"\nOr comment on its lines first:\n  orange comment " +
                                                         id.value + " FILE:LINE \"...\"");
    }
    CO_TRY(api.check_files(params.files, call));
    engine::Request request;
    request.goal = engine::Goal::rejected;
    Edit edit;
    edit.files = params.files;
    if (!trim(params.feedback).empty()) edit.feedback = params.feedback;
    CO_TRY(auto moved, co_await api.runner().requests.move(id, request, call.caller, std::move(edit)));
    if (has_drafts(api, id)) moved.notes.push_back("the list was too long for all comments; the rest are still drafts");
    co_return api.reply(id, std::move(moved));
}

Awaitable<Result<TaskReply>> stop(Api& api, TaskStop params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(auto stopped, co_await api.runner().respawns.stop(id));
    co_return api.reply(id, std::move(stopped));
}

Awaitable<Result<TaskReply>> restart(Api& api, TaskRestart params, Call call) {
    CO_TRY(const auto id, api.select(params, call));
    CO_TRY(const auto record, api.runner().turns.record_of(id));
    CO_TRY(const auto definition, api.runner().turns.definition_of(record.task));
    CO_TRY(const auto need, engine::respawn_need(*definition, record.task, record.queued));
    if (api.runner().agents.alive(record, need.role)) CO_TRY(co_await api.runner().respawns.stop(id));
    CO_TRY(auto started, co_await api.runner().respawns.respawn(id, call.caller));
    co_return api.reply(id, std::move(started));
}

Awaitable<Result<TaskDiff::Reply>> diff(Api& api, TaskDiff params, Call call) {
    CO_TRY(const auto selected, api.select(params, call));
    TaskId id = selected;
    if (call.wall.empty()) {
        CO_TRY(id, picked_instead(api.world(), selected));
    }
    CO_TRY(auto record, api.runner().turns.record_of(id));
    auto known = api.runner().committed.known(id);
    CO_TRY(const auto changes, co_await changes_of(api.world(), record, std::move(known), params.since_review));
    TaskDiff::Reply reply;
    const auto alarm = co_await current_alarm(api.world(), record);
    if (call.caller.role == Role::human) reply.alarm = alarm;
    if (params.merge && call.wall.empty() && !changes.commit.empty()) {
        // Without an answer the merge itself asks. While there is an alarm, git runs nothing that was chosen since.
        const bool tries = alarm.empty();
        if (auto preview = co_await api.runner().merges.preview(std::move(record), changes.commit, tries)) {
            const auto said = api.sentences({preview->concerns});
            if (!said.empty()) reply.concerns = said.front();
            reply.confirms = std::move(preview->confirms);
            reply.conflicts = std::move(preview->conflicts);
        }
    }
    reply.repository = changes.repository;
    reply.base = changes.base;
    reply.tip = changes.tip;
    reply.commit = changes.commit;
    reply.changes = counts_of(changes);
    if (params.comments) {
        CO_TRY(const auto now, api.runner().turns.record_of(id));
        auto body = store::read_body(api.world().files, api.world().tasks.folder(now) / "TASK.md").value_or("");
        CO_TRY(auto said, co_await comments_at(api, now, call, CommentsOf::files, changes, std::move(body)));
        reply.comments = std::move(said.comments);
        reply.remarks = std::move(said.remarks);
    }
    if (!params.patch) co_return reply;
    CO_TRY(auto patch, co_await patch_of(api.world(), changes));
    reply.stat = std::move(patch.stat);
    reply.text = std::move(patch.text);
    reply.cut = patch.cut;
    co_return reply;
}

}  // namespace

ChangeCounts counts_of(const Changes& changes) {
    ChangeCounts counts{changes.commits, changes.files, changes.added, changes.removed, changes.uncommitted};
    for (const auto& file : changes.large) counts.large.push_back({file.path, file.bytes});
    return counts;
}

void add_task_answers(MethodTable& table, Api& api) {
    using enum ErrorCode;
    table.add<TaskAnswer>(Access::human,
                          "Answers the question of a task's agent; a dead agent is started with the answer.",
                          {not_found, conflict, forbidden}, api, answer);
    table.add<TaskReject>(Access::human, "Sends reviewed work back to the worker, with feedback.",
                          {not_found, illegal_transition, gate_failed, guard_failed, forbidden}, api, reject);
    table.add<TaskStop>(Access::human, "Ends a task's agents; the task stays where it is.", {not_found, conflict}, api,
                        stop);
    table.add<TaskRestart>(Access::human, "Starts the agent of a task's state, ending it first if it runs.",
                           {not_found, conflict}, api, restart);
    table.add<TaskDiff>(Access::read, "What a task's branch changes, committed and not.", {not_found, external_failed},
                        api, diff);
}

}  // namespace orange::rpc
