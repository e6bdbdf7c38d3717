#include "daemon/runner/runner.hpp"

#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/synced.hpp"
#include "daemon/store/sections.hpp"

namespace orange {

Runner::Runner(World& world, AgentControl& agents) : world_(world), agents_(agents) {}

Result<TaskRecord> Runner::record_of(const TaskId& id) const {
    const auto* record = world_.tasks.find(id);
    if (!record) return Error{ErrorCode::not_found, "there is no task " + id.value, {}};
    return *record;
}

Result<workflow::Library::DefinitionPtr> Runner::definition_of(const Task& task) {
    return world_.workflows.pinned(task.workflow, task.workflow_hash);
}

store::Copies Runner::copies_of(const TaskRecord& record) const {
    store::Copies copies;
    copies.own = world_.tasks.folder(record) / "TASK.md";
    if (record.task.workspace) copies.mirror = world_.pool.path_of(*record.task.workspace) / record.task_file;
    return copies;
}

Awaitable<Result<Runner::Stepped>> Runner::step_bodies(TaskRecord& record) {
    auto synced = co_await world_.task_files.sync(record, copies_of(record));
    if (!synced) co_return synced.error();
    Stepped stepped;
    stepped.attention_before = record.task.attention;
    apply_synced(world_, record, *synced);
    if (synced->unsettled && syncing_soon_.insert(record.task.id).second) {
        async::spawn(world_.executor, "late writer", sync_soon(record.task.id));
    }
    stepped.artifacts = store::parse_sections(synced->body);
    stepped.body = std::move(synced->body);
    co_return stepped;
}

Result<void> Runner::authorize(const TaskRecord& record, const Caller& by, const engine::Request& request) const {
    const bool agent = by.role == Role::worker || by.role == Role::reviewer;
    if (agent && by.task != record.task.id) {
        return Error{ErrorCode::forbidden,
                     "you are the " + std::string(name_of(by.role)) + " of task " + by.task.value +
                         " and may move only that one (taken from: " + by.evidence + ")",
                     {}};
    }
    const auto* reviewer = record.run_of(Role::reviewer);
    if (by.role == Role::reviewer && !by.run.empty() && (!reviewer || reviewer->run != by.run)) {
        return Error{ErrorCode::forbidden, "this review round is over: another reviewer was started since", {}};
    }
    if (agent && request.force) {
        return Error{ErrorCode::forbidden, "--force is a human's; ask them", {}};
    }
    return {};
}

Error Runner::explained(Error error, const engine::Definition& definition, const engine::Situation& situation) const {
    std::vector<std::string> edges;
    for (const auto& edge : engine::explain(definition, situation)) edges.push_back(engine::describe(edge));
    error.details["status"] = situation.task.status;
    error.details["edges"] = join(edges, "\n");
    return error;
}

void Runner::remember_readiness(TaskRecord& record, const engine::Request& request, const Caller& by) {
    if (record.task.status != engine::k_stuck || by.role != Role::worker || request.to != "reviewing") return;
    record.task.attention = "ready for review: the agent says that it is fixed; look, then run: orange task update " +
                            record.task.id.value + " --status reviewing";
    if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
    changed_(record.task.id);
}

Awaitable<Result<Outcome>> Runner::request(TaskId id, engine::Request request, Caller by, Edit edit) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = co_await settled(id);
    if (!record) co_return record.error();
    Outcome notes;
    if (edit.any()) {
        if (auto allowed = authorize(*record, by, request); !allowed) co_return allowed.error();
        // Decided first on the edited fields, so that a refused transition leaves the fields alone too.
        const auto definition = definition_of(record->task);
        if (!definition) co_return definition.error();
        auto stepped = co_await step_bodies(*record);
        if (!stepped) co_return stepped.error();
        auto trial = record->task;
        if (edit.summary) trial.summary = *edit.summary;
        const engine::Situation situation{trial, stepped->artifacts, record->entry_sections};
        if (auto possible = engine::decide_request(**definition, situation, request); !possible) {
            remember_readiness(*record, request, by);
            co_return explained(possible.error(), **definition, situation);
        }
        auto edited = co_await apply_edit(*record, edit, by);
        if (!edited) co_return edited.error();
        notes = std::move(*edited);
    }
    auto outcome = co_await request_locked(std::move(*record), request, by);
    if (outcome) outcome->notes.insert(outcome->notes.begin(), notes.notes.begin(), notes.notes.end());
    co_return outcome;
}

Awaitable<Result<Outcome>> Runner::request_locked(TaskRecord record, engine::Request request, Caller by) {
    auto definition = definition_of(record.task);
    if (!definition) co_return definition.error();
    if (auto allowed = authorize(record, by, request); !allowed) co_return allowed.error();
    auto stepped = co_await step_bodies(record);
    if (!stepped) co_return stepped.error();
    request.by = by.role;
    const engine::Situation situation{record.task, stepped->artifacts, record.entry_sections};
    auto decision = engine::decide_request(**definition, situation, request);
    if (!decision) {
        remember_readiness(record, request, by);
        co_return explained(decision.error(), **definition, situation);
    }
    co_return co_await perform(std::move(record), *definition, std::move(*decision), std::move(*stepped), by);
}

Awaitable<Result<Outcome>> Runner::perform(TaskRecord record, workflow::Library::DefinitionPtr definition,
                                           engine::Decision decision, Stepped stepped, Caller by) {
    std::vector<std::string> notes;
    bool acquires = false;
    for (const auto& action : decision.actions) acquires = acquires || action.name == "acquire_workspace";
    const bool had_workspace = record.task.workspace.has_value();
    if (acquires && !had_workspace) {
        auto prepared = co_await actions::prepare_workspace(world_, agents_, record);
        if (!prepared) co_return prepared.error();
        notes = std::move(*prepared);
    }

    if (record.task.attention == stepped.attention_before) record.task.attention.reset();
    record.task.status = decision.to;
    for (const auto& [field, value] : decision.counters) record.task.counters[field] = value;
    record.task.updated_at = world_.clock.now();
    record.entry_sections = stepped.artifacts.hashes();
    record.queued = false;
    Intent intent;
    intent.id = random_id(12);
    intent.from = decision.from;
    intent.to = decision.to;
    intent.by = by;
    intent.auto_reason = decision.auto_reason;
    intent.attested = decision.attested;
    intent.at = record.task.updated_at;
    for (const auto& action : decision.actions) intent.actions.push_back({action, false});
    record.intent = std::move(intent);

    if (auto committed = world_.tasks.save(record); !committed) {  // the commit point
        if (acquires && !had_workspace) {
            const auto* project = world_.projects.find(record.task.project);
            if (project) {
                const auto copy = *project;
                const auto released = co_await world_.pool.release(copy, record.task);
                if (!released) log::error("runner", released.error().message);
            }
        }
        co_return committed.error();
    }
    if (acquires && !had_workspace) {
        world_.journal.write(record, "workspace.acquired", {{"workspace", *record.task.workspace}});
    }
    auto outcome = co_await finish(std::move(record), definition);
    outcome.notes.insert(outcome.notes.begin(), notes.begin(), notes.end());
    co_return outcome;
}

Awaitable<std::vector<std::string>> Runner::run_actions(TaskRecord& record, const engine::Definition& definition) {
    std::vector<std::string> failures;
    actions::Context context{world_, agents_, record, definition,
                             [this](const std::string& project) { kick(project); }};
    for (std::size_t i = 0; i < record.intent->actions.size(); ++i) {
        if (record.intent->actions[i].done) continue;
        const auto action = record.intent->actions[i].action;
        const auto function = actions::find(action.name);
        Result<void> done = Error{ErrorCode::not_found, "this version has no action " + action.name, {}};
        if (function) done = co_await function(context, action);
        if (!done) {
            failures.push_back(action.name + ": " + done.error().message);
            log::warn("runner", "hook failed",
                      {{"task", record.task.id.value}, {"hook", action.name}, {"why", done.error().message}});
            world_.journal.write(record, "hook.failed", {{"hook", action.name}, {"error", done.error().message}});
        }
        record.intent->actions[i].done = true;
        if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
    }
    co_return failures;
}

Awaitable<Outcome> Runner::finish(TaskRecord record, workflow::Library::DefinitionPtr definition) {
    changed_(record.task.id);
    // Agents read the status in TASK.md: it is there before one of them is started.
    if (auto stepped = co_await step_bodies(record); !stepped) log::error("runner", stepped.error().message);
    auto failures = co_await run_actions(record, *definition);

    const auto intent = *record.intent;
    record.task.counters.erase("crash_count");
    if (!failures.empty()) record.task.attention = failures.front();
    if (!intent.attested) {
        record.task.attention =
            "the reviewer died after writing its verdict, so nobody can say that it was the "
            "reviewer who wrote it: read ## Review yourself, then run: orange task ack " +
            record.task.id.value;
    }
    Outcome outcome;
    for (const auto& failure : failures) {
        outcome.notes.push_back("hook failed: " + failure + " (see: orange task why " + record.task.id.value + ")");
    }
    if (auto told = tell(record, intent); !told) {
        // History misses no transition: the intent stays, and the next poll, request or daemon tries again.
        log::error("runner", told.error().message, {{"task", record.task.id.value}});
        record.task.attention = "the transition is not in its history yet: " + told.error().message;
        if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
        outcome.notes.push_back(*record.task.attention);
        changed_(record.task.id);
        co_return outcome;
    }
    record.intent.reset();
    if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
    if (auto stepped = co_await step_bodies(record); !stepped) log::error("runner", stepped.error().message);
    if (const auto* state = definition->state(record.task.status); state && state->terminal) {
        world_.task_files.forget(record.task.id);
    }
    changed_(record.task.id);
    co_return outcome;
}

Result<void> Runner::tell(const TaskRecord& record, const Intent& intent) {
    if (!intent.auto_reason.empty()) {
        auto told = world_.journal.write_once(
            record, "auto.advanced",
            {{"from", intent.from}, {"to", intent.to}, {"reason", intent.auto_reason}, {"tx", intent.id}});
        if (!told) return told;
    }
    std::map<std::string, Scalar> fields = {{"from", intent.from},
                                            {"to", intent.to},
                                            {"by", std::string(name_of(intent.by.role))},
                                            {"evidence", intent.by.evidence},
                                            {"tx", intent.id}};
    if (!intent.attested) fields["attested"] = false;
    if (auto told = world_.journal.write_once(record, "status.changed", std::move(fields)); !told) return told;
    if (intent.to != engine::k_cancelled) return {};
    return world_.journal.write_once(record, "task.cancelled", {{"tx", intent.id}});
}

Awaitable<Result<TaskRecord>> Runner::settled(TaskId id) {
    auto record = record_of(id);
    if (!record || !record->intent) co_return record;
    const auto definition = definition_of(record->task);
    if (!definition) co_return definition.error();
    co_await finish(*record, *definition);
    record = record_of(id);
    if (record && record->intent) {
        co_return Error{ErrorCode::io,
                        "the transition from " + record->intent->from + " to " + record->intent->to +
                            " has to be finished first: " + record->task.attention.value_or("see orange.log"),
                        {}};
    }
    co_return record;
}

Awaitable<void> Runner::resume(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record) co_return;
    co_await agents_.settle_starting(*record);
    if (record->intent) {
        log::info("runner", "resuming an interrupted transition",
                  {{"task", id.value}, {"from", record->intent->from}, {"to", record->intent->to}});
        const auto definition = definition_of(record->task);
        if (definition) {
            co_await finish(*record, *definition);
        } else {
            record->task.attention = "an interrupted transition cannot be finished: " + definition.error().message;
            if (auto saved = world_.tasks.save(*record); !saved) log::error("runner", saved.error().message);
        }
        co_return;
    }
    if (auto stepped = co_await step_bodies(*record); !stepped) log::warn("runner", stepped.error().message);
    changed_(id);
}

Awaitable<void> Runner::sync_soon(TaskId id) {
    co_await async::sleep(std::chrono::milliseconds(300));
    syncing_soon_.erase(id);
    co_await body_changed(id);
}

Awaitable<void> Runner::look_for_dialogs(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record || record->task.attention || record->intent) co_return;
    for (const Role role : {Role::worker, Role::reviewer}) {
        if (!agents_.alive(*record, role)) continue;
        if (!co_await agents_.shows_dialog(*record, role)) continue;
        record->task.attention = "the " + std::string(name_of(role)) +
                                 " waits for an answer in its window: orange task "
                                 "attach " +
                                 id.value;
        if (auto saved = world_.tasks.save(*record); !saved) log::error("runner", saved.error().message);
        changed_(id);
        co_return;
    }
}

Awaitable<void> Runner::body_changed(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record) co_return;
    if (auto stepped = co_await step_bodies(*record); !stepped) {
        log::warn("runner", stepped.error().message, {{"task", id.value}});
    }
}

Awaitable<bool> Runner::deliver(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record) co_return true;
    const bool delivered = co_await agents_.deliver(*record);
    if (!delivered && !record->outbox.empty() && !record->task.attention &&
        world_.clock.now() - record->outbox.front().queued_at > world_.settings.message_patience) {
        record->task.attention = "a message for the " + std::string(name_of(record->outbox.front().to)) +
                                 " cannot be delivered: its window does not take input; look: orange task attach " +
                                 id.value;
        if (auto saved = world_.tasks.save(*record); !saved) log::error("runner", saved.error().message);
        changed_(id);
    }
    co_return delivered;
}

Awaitable<Result<std::vector<engine::EdgeExplanation>>> Runner::explain(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record) co_return record.error();
    const auto definition = definition_of(record->task);
    if (!definition) co_return definition.error();
    const auto stepped = co_await step_bodies(*record);
    if (!stepped) co_return stepped.error();
    const engine::Situation situation{record->task, stepped->artifacts, record->entry_sections};
    co_return engine::explain(**definition, situation);
}

}  // namespace orange
