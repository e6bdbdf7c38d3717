#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/store/sections.hpp"

/// Creation and the queue: a pending task waits in its project's queue until a workspace is free, first in first out.
/// Nothing here holds a task's lock while it waits for another's.
namespace orange {
namespace {

Caller queue_caller() {
    Caller caller;
    caller.role = Role::system;
    caller.evidence = "queue";
    return caller;
}

}  // namespace

std::int64_t Runner::queue_place(const TaskRecord& record) const {
    std::int64_t place = 0;
    for (const auto& id : world_.tasks.queue(record.task.project)) {
        ++place;
        if (id == record.task.id) return place;
    }
    return 0;
}

Awaitable<Result<Outcome>> Runner::create(TaskRecord record, std::string context, bool no_spawn) {
    record.queued = !no_spawn;
    record.queued_seq = std::max<std::int64_t>(next_seq_ + 1, world_.clock.now().time_since_epoch().count());
    next_seq_ = record.queued_seq;
    std::string body;
    if (!context.empty()) body = store::with_section("", "Context", store::demoted(context));
    record.body_hash = content_hash(body);
    if (auto created = world_.tasks.create(record, body); !created) co_return created.error();
    world_.journal.write(record, "task.created",
                         {{"task_id", record.task.id.value},
                          {"project", record.task.project},
                          {"branch", record.task.branch},
                          {"workflow", record.task.workflow}});
    changed_(record.task.id);
    Outcome outcome;
    if (no_spawn) {
        outcome.notes = {"start it with: orange task spawn " + record.task.id.value};
        co_return outcome;
    }
    start_notes_[record.task.id] = {};
    co_await run_queue(record.task.project);
    // Somebody else's turn of the queue may have taken this one up: its start holds the task's lock until it is over.
    while (starting_.contains(record.task.id)) {
        const auto lock = co_await world_.task_locks.acquire(record.task.id.value);
    }
    outcome.notes = start_notes_.extract(record.task.id).mapped();
    const auto after = record_of(record.task.id);
    if (after && after->queued) {
        outcome.notes.push_back("waits for a workspace, place " + std::to_string(queue_place(*after)) +
                                " in the queue; it starts by itself when another is done");
    } else if (after && after->task.attention) {
        outcome.notes.push_back("was created, but: " + *after->task.attention);
    }
    co_return outcome;
}

Awaitable<Result<Outcome>> Runner::start_pending(TaskRecord record, Caller by) {
    const auto definition = definition_of(record.task);
    if (!definition) co_return definition.error();
    auto target = engine::spawn_target(**definition, record.task);
    if (!target) co_return target.error();
    engine::Request request;
    request.to = *target;
    request.by = by.role;
    co_return co_await request_locked(std::move(record), request, by);
}

Awaitable<Result<Outcome>> Runner::spawn(TaskId id, Caller by) {
    {
        const auto lock = co_await world_.task_locks.acquire(id.value);
        auto record = co_await settled(id);
        if (!record) co_return record.error();
        const auto definition = definition_of(record->task);
        if (!definition) co_return definition.error();
        if (record->task.status != (*definition)->initial().name) {
            co_return Error{ErrorCode::illegal_transition,
                            "task " + id.value + " is " + record->task.status +
                                " already; to start a dead agent again: orange task respawn " + id.value,
                            {}};
        }
        auto started = co_await start_pending(*record, by);
        if (started || started.error().code != ErrorCode::pool_exhausted) co_return started;
        record = record_of(id);
        if (!record) co_return record.error();
        if (!record->queued) {
            record->queued = true;
            record->queued_seq = std::max<std::int64_t>(next_seq_ + 1, world_.clock.now().time_since_epoch().count());
            next_seq_ = record->queued_seq;
            if (auto saved = world_.tasks.save(*record); !saved) co_return saved.error();
        }
    }
    const auto record = record_of(id);
    Outcome outcome;
    if (record) {
        outcome.notes = {"waits for a workspace, place " + std::to_string(queue_place(*record)) +
                         " in the queue; it starts by itself when another is done"};
    }
    co_return outcome;
}

void Runner::kick(const std::string& project) {
    async::spawn(world_.executor, "queue", run_queue(project));
}

bool Runner::has_room(const Project& project) const {
    auto room = world_.pool.free(project);
    for (const auto& id : starting_) {
        const auto* record = world_.tasks.find(id);
        if (record && record->task.project == project.name && !world_.pool.has_claim(id)) --room;
    }
    return room > 0;
}

/// First in, first out, as far as there are workspaces; side by side, since one project's setup may take minutes.
Awaitable<void> Runner::run_queue(std::string project) {
    const auto* registered = world_.projects.find(project);
    if (!registered) co_return;
    const auto copy = *registered;
    auto started = std::make_shared<Starts>(world_.executor);
    for (const auto& id : world_.tasks.queue(project)) {
        if (starting_.contains(id)) continue;
        if (!has_room(copy)) break;
        starting_.insert(id);
        ++started->under_way;
        async::spawn(world_.executor, "start", start_queued(id, started));
    }
    while (started->under_way > 0) co_await started->ended.wait();
}

Awaitable<void> Runner::start_queued(TaskId id, std::shared_ptr<Starts> starts) {
    struct Ending {  // also where the start fails with an exception
        Runner& runner;
        TaskId id;
        Starts& starts;
        ~Ending() {
            runner.starting_.erase(id);
            --starts.under_way;
            starts.ended.notify();
        }
    } ending{*this, id, *starts};
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = co_await settled(id);
    if (!record || !record->queued) co_return;
    auto started = co_await start_pending(*record, queue_caller());
    if (started && start_notes_.contains(id)) start_notes_[id] = started->notes;
    if (started || started.error().code == ErrorCode::pool_exhausted) co_return;
    // It would fail the same way for ever, and hold up the others: out of the queue, and somebody is told.
    record = record_of(id);
    if (!record) co_return;
    record->queued = false;
    record->task.attention =
        "it could not be started: " + started.error().message + "; then run: orange task spawn " + id.value;
    if (auto saved = world_.tasks.save(*record); !saved) log::error("queue", saved.error().message);
    world_.journal.write(*record, "spawn.failed", {{"error", started.error().message}});
    if (auto stepped = co_await step_bodies(*record); !stepped) log::warn("queue", stepped.error().message);
    changed_(id);
    kick(record->task.project);  // its workspace is free again
}

}  // namespace orange
