#include "daemon/runner/runner.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/identity.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/explained.hpp"
#include "daemon/runner/programs.hpp"
#include "daemon/runner/synced.hpp"
#include "daemon/runner/worktree.hpp"
#include "daemon/store/sections.hpp"

namespace orange {
namespace {

constexpr std::string_view k_not_told = "the transition is not in its history yet: ";

}  // namespace

Runner::Runner(World& world, AgentControl& agents) : world_(world), agents_(agents), merges_(world, *this) {
    world_.pool.tell_mended([this](const TaskId& id, const std::string& workspace, const git::Mended& mended) {
        tell_mended(id, workspace, mended);
    });
}

void Runner::tell_mended(const TaskId& id, const std::string& workspace, const git::Mended& mended) {
    log::warn("runner", "put right in " + workspace + ": " + mended.what, {{"task", id.value}, {"kept", mended.kept}});
    const auto* record = world_.tasks.find(id);
    if (!record) return;
    std::map<std::string, Scalar> fields = {{"workspace", workspace}, {"what", mended.what}};
    if (!mended.kept.empty()) fields["kept"] = mended.kept;
    world_.journal.write(*record, "workspace.mended", std::move(fields));
}

Result<TaskRecord> Runner::record_of(const TaskId& id) const {
    const auto* record = world_.tasks.find(id);
    if (!record) return Error(ErrorCode::not_found, "there is no task " + id.value);
    return *record;
}

Result<workflow::Library::DefinitionPtr> Runner::definition_of(const Task& task) {
    return world_.workflows.pinned(task.workflow, task.workflow_hash);
}

store::Copies Runner::copies_of(const TaskRecord& record) const {
    store::Copies copies;
    copies.own = world_.tasks.folder(record) / "TASK.md";
    copies.mirror = mirror_of(world_, record);
    return copies;
}

Awaitable<Result<Stepped>> Runner::step_bodies(TaskRecord& record) {
    const auto copies = copies_of(record);
    Result<store::Synced> synced = Error{};
    if (record.unwritten_feedback.empty()) {
        synced = co_await world_.task_files.sync(record, copies);
    } else {
        synced = co_await world_.task_files.write_section(record, copies, "Feedback", record.unwritten_feedback);
    }
    if (!synced) co_return synced.error();
    Stepped stepped;
    stepped.attention_before = record.task.attention;
    record.unwritten_feedback.clear();
    apply_synced(world_, record, *synced);
    if (synced->unsettled && syncing_soon_.insert(record.task.id).second) {
        async::spawn(world_.executor, "late writer", sync_soon(record.task.id));
    }
    stepped.artifacts = store::parse_sections(synced->body);
    stepped.body = std::move(synced->body);
    co_return stepped;
}

Result<void> Runner::authorize(const TaskRecord& record, const Caller& by, const engine::Request& request) const {
    if (by.role != Role::worker && by.role != Role::reviewer) return {};
    const auto refused = [&](const std::string& why) {
        return Error(ErrorCode::forbidden, why + "; you were taken for " + agents::describe(by));
    };
    if (by.task != record.task.id) return refused("an agent may move its own task only");
    const auto* reviewer = record.run_of(Role::reviewer);
    if (by.role == Role::reviewer && (!reviewer || reviewer->run != by.run)) {
        return refused("this review round is over: its reviewer was ended, or another was started since");
    }
    const auto* worker = record.run_of(Role::worker);
    // Who calls is found out once a connection, and that may outlive the run: a new one would be nobody's.
    if (by.role == Role::worker && !by.run.empty() && (!worker || worker->run != by.run)) {
        return refused(worker ? "another worker was started in this one's place since" : "this worker's run is over");
    }
    if (request.force) return refused("--force is a human's; ask them");
    return {};
}

/// Where a human could do what the worker of a stuck task asks for, its asking says that it is ready.
void Runner::remember_readiness(TaskRecord& record, const Caller& by, const Error& refused) {
    const auto ready = refused.details.find("attention"), command = refused.details.find("human_command");
    if (record.task.status != engine::k_stuck || by.role != Role::worker) return;
    if (ready == refused.details.end() || command == refused.details.end()) return;
    record.task.attention = ready->second + ": the agent says that it is fixed; look, then run: " + command->second;
    if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
    changed_(record.task.id);
}

bool Runner::is_open(const TaskId& id, engine::Request request, const Caller& by) {
    const auto* record = world_.tasks.find(id);
    if (!record || by.role != Role::human) return false;
    const auto definition = definition_of(record->task);
    request.by = by.role;
    const engine::Artifacts none;
    const engine::Situation situation{record->task, none, record->entry_sections};
    return definition && engine::decide_request(**definition, situation, request);
}

Awaitable<Result<Outcome>> Runner::request(TaskId id, engine::Request request, Caller by, Edit edit) {
    // Whoever gives a task up does not wait until its setup command has ended: that holds the lock, and may take long.
    if (request.to == engine::k_cancelled && is_open(id, request, by)) world_.pool.stop_acquire(id);
    const auto lock = co_await world_.task_locks.acquire(id.value);
    CO_TRY(leave_lost_workflow(id, edit, by));
    CO_TRY(auto record, co_await settled(id));
    CO_TRY(authorize(record, by, request));
    CO_TRY(const auto given_up, co_await merges_.give_up(record, request.force));
    auto moved = co_await request_locked(std::move(record), std::move(request), by, std::move(edit));
    if (moved) moved->notes.insert(moved->notes.begin(), given_up.begin(), given_up.end());
    co_return moved;
}

/// Decided on the edited fields, and written with them: a refused transition leaves the fields alone too.
Awaitable<Result<Outcome>> Runner::request_locked(TaskRecord record, engine::Request request, Caller by, Edit edit) {
    CO_TRY(const auto definition,
           edit.workflow ? workflow_for(record, *edit.workflow, by) : definition_of(record.task));
    CO_TRY(authorize(record, by, request));
    CO_TRY(auto stepped, co_await step_bodies(record));
    request.by = by.role;
    request.vouched = by.through.empty();
    const engine::Situation situation{record.task, stepped.artifacts, record.entry_sections};
    auto decision = engine::decide_request(*definition, situation, request);
    if (!decision) {
        remember_readiness(record, by, decision.error());
        co_return explained(decision.error(), *definition, situation, by);
    }
    auto changed = record;
    CO_TRY(co_await set_fields(changed, edit, by));
    if (edit.feedback) {  // part of what the new state begins with
        stepped.body = store::with_section(stepped.body, "Feedback", *edit.feedback);
        stepped.artifacts = store::parse_sections(stepped.body);
    }
    co_return co_await perform(std::move(changed), definition, std::move(*decision), std::move(stepped), by,
                               edit.branch.has_value());
}

namespace {

/// Who it was, and for an agent by which programs it has called.
std::string evidence_of(const Caller& by) {
    return by.programs.empty() ? by.evidence : by.evidence + ": " + by.programs;
}

std::string unattested(const TaskId& task, const Caller& by, const std::string& section) {
    const auto why = by.through.empty() ? std::string("the reviewer died after writing its verdict")
                                        : "the verdict came from " + by.through + ", which the reviewer ran";
    return why + ", so nobody can say that it was the reviewer who wrote it: read ## " + section +
           " yourself, then run: orange task ack " + task.value;
}

Error without_workspace(const TaskRecord& record, const engine::Decision& decision, Error error) {
    // The queue knows what a full pool means for a task that has not begun.
    if (std::any_of(decision.actions.begin(), decision.actions.end(),
                    [](const Action& action) { return action.name == "acquire_workspace"; })) {
        return error;
    }
    const auto what = decision.from + " → " + decision.to + " starts an agent, and task " + record.task.id.value +
                      " has no workspace for it";
    if (error.code != ErrorCode::pool_exhausted) return in_context(what, std::move(error));
    error.message = what + ": all workspaces of " + record.task.project +
                    " are taken (orange workspace list says by whom). Try again when one is free, or raise the limit: "
                    "orange project update " +
                    record.task.project + " --pool-size N";
    return error;
}

}  // namespace

Awaitable<Result<Runner::Prepared>> Runner::prepare(TaskRecord record, engine::Decision decision) {
    Prepared prepared;
    // Some tasks come into the middle of their life without one (made as `reviewing`, say): the first transition that
    // starts an agent takes one, as if it began with acquire_workspace.
    if (record.task.workspace || !engine::needs_workspace(decision)) co_return prepared;
    auto taken = co_await actions::prepare_workspace(world_, agents_, record);
    if (!taken) {
        // It had one for a while, which others may wait for.
        if (taken.error().code != ErrorCode::pool_exhausted && !is_starting(record.task.id)) kick(record.task.project);
        co_return without_workspace(record, decision, taken.error());
    }
    prepared.workspace = *record.task.workspace;
    prepared.task_file = record.task_file;
    prepared.branch_start = record.branch_start;
    prepared.notes = std::move(*taken);
    co_return prepared;
}

Awaitable<void> Runner::give_back(TaskRecord record, Prepared prepared) {
    const auto* project = world_.projects.find(record.task.project);
    if (prepared.workspace.empty() || !project) co_return;
    const auto copy = *project;
    const auto released = co_await world_.pool.release(copy, record.task);
    if (!released) log::error("runner", released.error().message);
    if (!is_starting(record.task.id)) kick(copy.name);  // else its start has failed, and says who is next
}

Awaitable<Result<Outcome>> Runner::perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                           engine::Decision decision, Stepped stepped, Caller by) {
    return perform(std::move(record), std::move(definition), std::move(decision), std::move(stepped), std::move(by),
                   false);
}

Intent Runner::intent_of(const engine::Decision& decision, const Caller& by, Timestamp at) {
    Intent intent;
    intent.id = random_id(12);
    intent.from = decision.from;
    intent.to = decision.to;
    intent.by = by;
    intent.auto_reason = decision.auto_reason;
    intent.attested = decision.attested;
    intent.at = at;
    for (const auto& action : decision.actions) intent.actions.push_back({action, false});
    return intent;
}

Awaitable<Result<Outcome>> Runner::perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                           engine::Decision decision, Stepped stepped, Caller by, bool moved_branch) {
    CO_TRY(const auto before, record_of(record.task.id));
    const auto prepared = co_await prepare(record, decision);
    if (!prepared) {
        if (moved_branch) co_await take_back_branch(before, record);
        co_return prepared.error();
    }
    const bool acquired = !prepared->workspace.empty();
    if (acquired) {
        record.task.workspace = prepared->workspace;
        record.task_file = prepared->task_file;
        record.branch_start = prepared->branch_start;
        record.programs.reset();  // finish() notes them
    }

    if (record.task.attention == stepped.attention_before) record.task.attention.reset();
    record.task.status = decision.to;
    const auto* state = definition->state(decision.to);
    record.ended = state && state->terminal;
    if (record.ended) record.died.clear();
    for (const auto& [field, value] : decision.counters) record.task.counters[field] = value;
    record.task.updated_at = world_.clock.now();
    record.entry_sections = stepped.artifacts.hashes();
    record.queued = false;
    record.start.reset();
    record.intent = intent_of(decision, by, record.task.updated_at);

    if (state && state->agent == Role::reviewer) co_await note_reviewed_commit(record);
    auto edited = co_await commit(before, record, by, moved_branch);
    if (!edited) {
        co_await give_back(record, *prepared);
        co_return edited.error();
    }
    if (acquired) {
        world_.journal.write(record, "workspace.acquired", {{"workspace", *record.task.workspace}});
    }
    auto outcome = co_await finish(std::move(record), definition);
    outcome.notes.insert(outcome.notes.begin(), prepared->notes.begin(), prepared->notes.end());
    outcome.notes.insert(outcome.notes.begin(), edited->begin(), edited->end());
    co_return outcome;
}

/// What the reviewer is to look at: a verdict says nothing of what comes after it.
Awaitable<void> Runner::note_reviewed_commit(TaskRecord& record) {
    record.reviewed_commit = "none";  // what cannot be read, or is an orphan branch, counts as nothing seen
    if (!record.task.workspace) co_return;
    const auto worktree = co_await open_worktree(world_, record);
    auto commit = Result<std::string>(std::string());
    if (worktree) commit = co_await git::commit_of(world_.git, *worktree, "HEAD");
    if (!worktree) commit = worktree.error();
    if (commit && !commit->empty()) {
        record.reviewed_commit = std::move(*commit);
    } else if (!commit) {
        log::warn("runner", commit.error().message, {{"task", record.task.id.value}});
    }
}

Awaitable<std::vector<std::string>> Runner::run_actions(TaskRecord& record, const engine::Definition& definition) {
    actions::Context context{
        world_, agents_, record, record.intent->id, definition, [this](const std::string& project) { kick(project); }};
    for (std::size_t i = 0; i < record.intent->actions.size(); ++i) {
        if (record.intent->actions[i].done) continue;
        const auto action = record.intent->actions[i].action;
        const auto function = actions::find(action.name);
        Result<void> done = Error(ErrorCode::not_found, "this version has no action " + action.name);
        if (function) done = co_await function(context, action);
        if (!done) {
            record.intent->actions[i].failure = done.error().message;
            log::warn("runner", "hook failed",
                      {{"task", record.task.id.value}, {"hook", action.name}, {"why", done.error().message}});
            world_.journal.write(record, "hook.failed", {{"hook", action.name}, {"error", done.error().message}});
        }
        record.intent->actions[i].done = true;
        if (i + 1 == record.intent->actions.size()) break;  // saved with the end of the transition
        if (auto saved = world_.tasks.save(record, Durability::atomic); !saved) {
            log::error("runner", saved.error().message);
        }
    }
    co_return std::move(context.notes);
}

Awaitable<Outcome> Runner::finish(TaskRecord record, workflow::Library::DefinitionPtr definition) {
    changed_(record.task.id);
    // Agents read the status in TASK.md: it is there before one of them is started.
    if (auto stepped = co_await step_bodies(record); !stepped) log::error("runner", stepped.error().message);
    const auto alarm_before = alarm_of(record);
    // A release looks by itself, when nobody is left who could change them.
    const bool releases = std::any_of(record.intent->actions.begin(), record.intent->actions.end(),
                                      [](const auto& planned) { return planned.action.name == "release_workspace"; });
    if (!releases) co_await watch_programs(world_, record);
    auto notes = co_await run_actions(record, *definition);

    const auto intent = *record.intent;
    Outcome outcome;
    outcome.notes = std::move(notes);
    std::vector<std::string> failures;
    for (const auto& planned : intent.actions) {
        if (planned.failure.empty()) continue;
        failures.push_back(planned.action.name + ": " + planned.failure);
        if (planned.action.name == engine::k_ensure_agent || engine::spawned_role(planned.action))
            outcome.spawn_error = planned.failure;
    }
    record.task.counters.erase("crash_count");
    if (!failures.empty()) {
        record.task.attention = failures.front();
        if (failures.size() > 1) {
            *record.task.attention += " (and " + counted(failures.size() - 1, "more failed hook") +
                                      ": orange task show " + record.task.id.value + ")";
        }
    }
    if (!intent.attested) {
        record.task.attention =
            unattested(record.task.id, intent.by, engine::verdict_section(*definition, intent.from, intent.to));
    }
    for (const auto& failure : failures) {
        outcome.notes.push_back("hook failed: " + failure + " (see: orange task why " + record.task.id.value + ")");
    }
    if (auto alarm = alarm_of(record); alarm != alarm_before) outcome.notes.push_back(std::move(alarm));
    if (auto told = tell(record, intent); !told) {
        // History misses no transition: the intent stays, and the next poll, request or daemon tries again.
        log::error("runner", told.error().message, {{"task", record.task.id.value}});
        const auto why = std::string(k_not_told) + told.error().message;
        if (!record.task.attention) record.task.attention = why;
        if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
        outcome.notes.push_back(why);
        changed_(record.task.id);
        co_return outcome;
    }
    if (record.task.attention && record.task.attention->starts_with(k_not_told)) record.task.attention.reset();
    record.intent.reset();
    const auto* state = definition->state(record.task.status);
    const bool ended = state && state->terminal;
    if (ended) drop_messages(record, outcome);
    if (auto saved = world_.tasks.save(record, Durability::atomic); !saved) log::error("runner", saved.error().message);
    if (auto stepped = co_await step_bodies(record); !stepped) log::error("runner", stepped.error().message);
    if (ended) world_.task_files.forget(record.task.id);
    changed_(record.task.id);
    co_return outcome;
}

void Runner::drop_messages(TaskRecord& record, Outcome& outcome) {
    for (const auto& message : record.outbox) {
        if (message.from != Role::human) continue;
        world_.journal.write(record, "message.dropped",
                             {{"role", std::string(name_of(message.to))}, {"message", message.text}});
        outcome.notes.push_back("the " + std::string(name_of(message.to)) +
                                " was not told any more: " + printable(message.text));
    }
    record.outbox.clear();
}

Result<void> Runner::tell(const TaskRecord& record, const Intent& intent) {
    if (!intent.auto_reason.empty()) {
        TRY(world_.journal.write_once(
            record, "auto.advanced",
            {{"from", intent.from}, {"to", intent.to}, {"reason", intent.auto_reason}, {"tx", intent.id}}));
    }
    std::map<std::string, Scalar> fields = {{"from", intent.from},
                                            {"to", intent.to},
                                            {"by", std::string(name_of(intent.by.role))},
                                            {"evidence", evidence_of(intent.by)},
                                            {"tx", intent.id}};
    if (!intent.attested) fields["attested"] = false;
    TRY(world_.journal.write_once(record, "status.changed", std::move(fields)));
    if (intent.to != engine::k_cancelled) return {};
    return world_.journal.write_once(record, "task.cancelled", {{"tx", intent.id}});
}

Awaitable<Result<TaskRecord>> Runner::settled(TaskId id) {
    auto record = record_of(id);
    if (!record || !record->intent) co_return record;
    CO_TRY(const auto definition, definition_of(record->task));
    co_await finish(*record, definition);
    record = record_of(id);
    if (record && record->intent) {
        co_return Error(ErrorCode::io,
                        "the transition from " + record->intent->from + " to " + record->intent->to +
                            " has to be finished first: " + record->task.attention.value_or("see orange.log"));
    }
    co_return record;
}

Awaitable<Result<std::vector<engine::EdgeExplanation>>> Runner::explain(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    CO_TRY(auto record, record_of(id));
    CO_TRY(const auto definition, definition_of(record.task));
    CO_TRY(const auto stepped, co_await step_bodies(record));
    const engine::Situation situation{record.task, stepped.artifacts, record.entry_sections};
    co_return engine::explain(*definition, situation);
}

}  // namespace orange
