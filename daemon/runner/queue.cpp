#include <cerrno>
#include <cstring>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/store/sections.hpp"

/// Creation and the queue: a pending task waits in its project's queue until a workspace is free, first in first out.
/// Nothing here holds a task's lock while it waits for another's.
namespace orange {
namespace {

/// Git and setup commands say it in the same words as the daemon's own writes.
bool is_disk_full(const Error& error) {
    return error.message.find(std::strerror(ENOSPC)) != std::string::npos ||
           error.message.find(std::strerror(EDQUOT)) != std::string::npos;
}

Caller queue_caller() {
    Caller caller;
    caller.role = Role::system;
    caller.evidence = "queue";
    return caller;
}

}  // namespace

std::string Runner::waits(const TaskRecord& record) const {
    return "waits for a workspace, place " + std::to_string(world_.tasks.queue_place(record)) +
           " in the queue; it starts by itself when another is merged, or with: orange task spawn " +
           record.task.id.value;
}

/// Behind everything that waits, whatever the clock says: it may have been set back since.
void Runner::enqueue(TaskRecord& record) {
    for (const auto& id : world_.tasks.queue(record.task.project)) {
        if (const auto* waiting = world_.tasks.find(id)) next_seq_ = std::max(next_seq_, waiting->queued_seq);
    }
    next_seq_ = std::max<std::int64_t>(next_seq_ + 1, world_.clock.now().time_since_epoch().count());
    record.queued = true;
    record.queued_seq = next_seq_;
}

/// Once, however often it is tried: a daemon that died right after it had written the task leaves it to the next one.
Result<void> Runner::tell_created(const TaskRecord& record) {
    TRY(auto events, world_.tasks.history(record.task.id, 1));
    if (!events.empty()) return {};
    std::map<std::string, Scalar> fields = {{"task_id", record.task.id.value},
                                            {"project", record.task.project},
                                            {"branch", record.task.branch},
                                            {"workflow", record.task.workflow}};
    if (record.task.base) fields["base"] = *record.task.base;
    world_.journal.write(record, "task.created", std::move(fields));
    return {};
}

/// The task is written in its state, with the transition as the intent that only history still lacks.
Awaitable<Result<Outcome>> Runner::enter_at_once(TaskRecord record, workflow::Library::DefinitionPtr definition) {
    const auto id = record.task.id;
    const auto lock = co_await world_.task_locks.acquire(id.value);
    co_return co_await finish(std::move(record), definition);
}

Awaitable<Result<Outcome>> Runner::create(TaskRecord record, std::string context, bool no_spawn, Caller by) {
    CO_TRY(const auto definition, definition_of(record.task));
    bool at_once = false;
    if (!no_spawn) enqueue(record);
    std::string body;
    if (!context.empty()) body = store::with_section("", "Context", store::demoted(context));
    record.body_hash = content_hash(body);
    if (record.start) {
        CO_TRY(const auto decision, engine::decide_start(*definition, record.task, *record.start));
        if (!engine::needs_workspace(decision)) {
            at_once = true;
            record.queued = false;
            record.start.reset();
            record.task.status = decision.to;
            for (const auto& [field, value] : decision.counters) record.task.counters[field] = value;
            record.entry_sections = store::parse_sections(body).hashes();
            record.intent = intent_of(decision, by, record.task.updated_at);
        }
    }
    if (!world_.projects.find(record.task.project)) {  // removed while this was being prepared
        co_return Error(ErrorCode::not_found, "project " + record.task.project + " is not registered");
    }
    if (const auto other = world_.tasks.on_branch(record.task.project, record.task.branch)) {
        co_return Error(ErrorCode::conflict, "branch " + record.task.branch + " belongs to task " + other->task.value +
                                                 " (" + other->status + ")");
    }
    CO_TRY(world_.tasks.create(record, body));
    if (auto told = tell_created(record); !told) log::error("runner", told.error().message);
    changed_(record.task.id);
    if (at_once) {
        auto entered = co_await enter_at_once(std::move(record), definition);
        co_return entered;
    }
    Outcome outcome;
    if (no_spawn) {
        outcome.notes = {"start it with: orange task spawn " + record.task.id.value};
        co_return outcome;
    }
    starts_[record.task.id] = {};
    co_await run_queue(record.task.project);
    // Somebody else's turn of the queue may have taken this one up: its start holds the task's lock until it is over.
    while (starting_.contains(record.task.id)) {
        const auto lock = co_await world_.task_locks.acquire(record.task.id.value);
        co_await async::yield();
    }
    outcome = std::move(starts_.extract(record.task.id).mapped());
    if (!outcome.spawn_error.empty()) co_return outcome;
    const auto after = record_of(record.task.id);
    if (after && after->task.attention) {
        outcome.notes.push_back("was created, but: " + *after->task.attention);
    } else if (after && after->queued && outcome.notes.empty()) {
        outcome.notes.push_back(waits(*after));
    }
    co_return outcome;
}

Awaitable<Result<Outcome>> Runner::start_pending(TaskRecord record, Caller by) {
    CO_TRY(const auto definition, definition_of(record.task));
    if (record.start) {
        CO_TRY(auto decision, engine::decide_start(*definition, record.task, *record.start));
        CO_TRY(auto stepped, co_await step_bodies(record));
        co_return co_await perform(std::move(record), definition, std::move(decision), std::move(stepped), by);
    }
    CO_TRY(auto target, engine::spawn_target(*definition, record.task));
    engine::Request request;
    request.to = target;
    request.by = by.role;
    const Edit no_edit;
    co_return co_await request_locked(std::move(record), request, by, no_edit);
}

/// Nobody is passed: where others wait or are being started, it goes behind them.
bool Runner::is_next(const TaskRecord& record) const {
    const auto* project = world_.projects.find(record.task.project);
    if (world_.pool.has_claim(record.task.id)) return true;
    if (!project || !has_room(*project)) return false;
    for (const auto& id : world_.tasks.queue(record.task.project)) {
        if (id == record.task.id) return true;
        if (!starting_.contains(id)) return false;
    }
    return true;
}

/// Counts as a workspace taken before it has claimed one, so that no turn of the queue is promised the same.
Awaitable<Result<Outcome>> Runner::start_now(TaskRecord record, Caller by) {
    struct Starting {
        Starting(std::set<TaskId>& all, TaskId which) : ids(all), id(std::move(which)) { ids.insert(id); }
        ~Starting() { ids.erase(id); }
        std::set<TaskId>& ids;
        TaskId id;
    };
    const Starting starting(starting_, record.task.id);
    co_return co_await start_pending(std::move(record), by);
}

Awaitable<Result<Outcome>> Runner::spawn(TaskId id, Caller by) {
    std::string project;
    {
        const auto lock = co_await world_.task_locks.acquire(id.value);
        CO_TRY(auto record, co_await settled(id));
        project = record.task.project;
        CO_TRY(const auto definition, definition_of(record.task));
        if (record.task.status != definition->initial().name) {
            co_return Error(ErrorCode::illegal_transition,
                            "task " + id.value + " is " + record.task.status +
                                " already; to start a dead agent again: orange task respawn " + id.value);
        }
        if (is_next(record)) {
            auto started = co_await start_now(record, by);
            if (!started && started.error().code != ErrorCode::pool_exhausted) kick(project);
            if (started || started.error().code != ErrorCode::pool_exhausted) co_return started;
            CO_TRY(record, record_of(id));
        }
        if (!record.queued) {
            enqueue(record);
            CO_TRY(world_.tasks.save(record));
        }
    }
    co_await run_queue(project);
    const auto record = record_of(id);
    Outcome outcome;
    if (record && record->queued) outcome.notes = {waits(*record)};
    co_return outcome;
}

void Runner::kick(const std::string& project) {
    async::spawn(world_.executor, "queue", run_queue_soon(project));
}

/// Not on the stack of whoever ends: starts that fail at once would pile up there.
Awaitable<void> Runner::run_queue_soon(std::string project) {
    co_await async::yield();
    co_await run_queue(std::move(project));
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
        // One that failed while the disk was full may have a workspace still, which is its own.
        if (!world_.pool.has_claim(id) && !has_room(copy)) continue;
        starting_.insert(id);
        ++started->under_way;
        async::spawn(world_.executor, "start", start_queued(id, started));
    }
    while (started->under_way > 0) co_await started->ended.wait();
}

Awaitable<bool> Runner::repository_answers(std::string project) {
    const auto* registered = world_.projects.find(project);
    if (!registered) co_return true;
    const auto path = registered->path;
    const auto trees = co_await git::worktrees(world_.git, path);
    co_return trees.has_value();
}

Awaitable<void> Runner::restart_queues() {
    const auto stalled = stalled_;
    for (const auto& project : stalled) {
        if (!co_await repository_answers(project)) continue;
        stalled_.erase(project);
        kick(project);
    }
}

Awaitable<void> Runner::start_queued(TaskId id, std::shared_ptr<Starts> starts) {
    struct Ending {  // also where the start fails with an exception
        Runner& runner;
        TaskId id;
        Starts& starts;
        std::string go_on = {};    ///< the project whose next task may be started in its place
        std::string project = {};  ///< to be tried again, where the start fails with an exception
        bool finished = false;
        ~Ending() {
            runner.starting_.erase(id);
            --starts.under_way;
            starts.ended.notify();
            if (!go_on.empty()) runner.kick(go_on);
            if (!finished && !project.empty()) runner.stalled_.insert(project);
        }
    } ending{*this, id, *starts};
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = co_await settled(id);
    if (!record || !record->queued) co_return;
    ending.project = record->task.project;
    auto started = co_await start_pending(*record, queue_caller());
    ending.finished = true;
    if (started && starts_.contains(id)) starts_[id] = *started;
    if (started || started.error().code == ErrorCode::pool_exhausted) co_return;
    const bool full = is_disk_full(started.error());
    const bool own_fault = !full && co_await repository_answers(record->task.project);
    record = record_of(id);
    if (!record) co_return;
    // A task that would fail the same way for ever holds up the others: it leaves the queue, and a human is told. If
    // the disk is full or the repository does not answer, all would fail: they keep their places and go on later.
    const auto why = started.error().message;
    auto error = why + "; then run: orange task spawn " + id.value;
    if (own_fault) {
        record->queued = false;
    } else {
        stalled_.insert(record->task.project);
        error = why + "; it starts by itself once " + (full ? "the disk has room" : "the repository answers") +
                " (orange doctor)";
    }
    if (starts_.contains(id)) starts_[id].spawn_error = error;
    const auto attention = "it could not be started: " + error;
    if (!own_fault && record->task.attention == attention) co_return;  // told
    record->task.attention = attention;
    if (auto saved = world_.tasks.save(*record); !saved) {
        log::error("queue", saved.error().message);  // still in the queue: to go on now would only meet it again
        stalled_.insert(record->task.project);
        if (starts_.contains(id)) starts_[id].spawn_error = why + "; it is tried again";
        co_return;
    }
    if (own_fault) ending.go_on = record->task.project;
    world_.journal.write(*record, "spawn.failed", {{"error", started.error().message}});
    if (auto stepped = co_await step_bodies(*record); !stepped) log::warn("queue", stepped.error().message);
    changed_(id);
}

}  // namespace orange
