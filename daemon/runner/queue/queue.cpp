#include "daemon/runner/queue/queue.hpp"

#include <algorithm>
#include <utility>

#include "common/base/in_set.hpp"
#include "common/base/shortage.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

std::string more_room(const Project* project) {
    const auto command = project ? project->command_for_more_room() : std::string();
    return command.empty() ? command : " To start it at once, in one more workspace:\n  " + command;
}

}  // namespace

std::string Queue::waits(const TaskRecord& record) const {
    if (record.unapproved) {
        return "the task waits for your approval. To start it:\n  orange task approve " + record.task.id.value;
    }
    if (record.blocked()) return waits_sentence(world_, record);
    if (const auto wait = runner_.capacity.wait_of(record)) return waits_sentence(*wait, record.task.project);
    return "all workspaces are in use. The task is number " + std::to_string(world_.tasks.queue_place(record)) +
           " in the queue, and starts when a task of this project is merged." +
           more_room(world_.projects.find(record.task.project));
}

/// The order is kept even if the clock was set back.
void Queue::enqueue(TaskRecord& record) {
    for (const auto& id : world_.tasks.queue(record.task.project)) {
        if (const auto waiting = world_.tasks.awake(id)) next_seq_ = std::max(next_seq_, waiting->queued_seq);
    }
    next_seq_ = std::max<std::int64_t>(next_seq_ + 1, world_.clock.now().time_since_epoch().count());
    record.queued = true;
    record.queued_seq = next_seq_;
    keep_time(world_, turns_, record);
}

Awaitable<Result<Outcome>> Queue::start_pending(TaskRecord record, Caller by) {
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    if (record.task.status != definition->initial().name) {
        co_return co_await move_after_children(runner_, std::move(record));
    }
    const bool works_itself = record.attempts.empty();
    if (works_itself && !record.stacked_on.empty() && !record.blocked())
        CO_TRY(co_await put_on_base(world_, turns_, record));
    if (record.start) {
        CO_TRY(auto decision, engine::decide_start(*definition, record));
        CO_TRY(auto synced, co_await turns_.sync_bodies(record));
        co_return co_await runner_.transitions.perform(std::move(record), definition, std::move(decision),
                                                       std::move(synced), by);
    }
    engine::Request request;
    CO_TRY(request.to, engine::spawn_target(*definition, record.task));
    const Edit no_edit;
    co_return co_await runner_.transitions.request(std::move(record), request, by, no_edit);
}

bool Queue::is_next(const TaskRecord& record) const {
    if (!world_.projects.find(record.task.project)) return false;
    return queue::is_next(runner_.capacity.snapshot(), runner_.capacity.pending(record));
}

/// Keeps the workspace and the agent's slot of a start under way reserved, whether the task is in the queue or not.
class Queue::Preparing {
  public:
    Preparing(Queue& queue, TaskId id)
        : preparing_(queue.preparing_, id), starting_(queue.runner_.capacity.starting(), id) {}

  private:
    InSet<TaskId> preparing_, starting_;
};

Awaitable<Result<Outcome>> Queue::spawn(TaskId id, Caller by) {
    std::string project, pass;
    {
        CO_TRY(auto turn, co_await runner_.transitions.begin_turn(id));
        auto& record = turn.record;
        project = record.task.project;
        CO_TRY(const auto definition, turns_.definition_of(record.task));
        // A task whose sub-tasks are done may wait in the queue for its next step. Then the request means that step.
        if (record.task.status != definition->initial().name && !record.queued) {
            co_return engine::spawn_target(*definition, record.task).error();
        }
        if (std::exchange(record.unapproved, false)) CO_TRY(turns_.try_save(record));  // a human starts it
        if (by.role == Role::human) pass = runner_.budgets.let_pass(record);
        if (!pass.empty()) CO_TRY(turns_.try_save(record));
        if (record.queued && runner_.capacity.is_paused(record)) {  // after a usage limit, the human lets it continue
            enqueue(record);
            CO_TRY(turns_.try_save(record));
        }
        if (!record.blocked() && is_next(record)) {
            const Preparing preparing(*this, id);  // so that the queue cannot hand out the same workspace
            auto started = co_await start_pending(record, by);
            if (!started && started.error().code != ErrorCode::pool_exhausted) schedule(project);
            if (started && !started->spawn_error.empty()) stalled_.insert(project);
            if (started && !pass.empty()) started->notes.push_back(pass);
            if (started || started.error().code != ErrorCode::pool_exhausted) co_return started;
            CO_TRY(record, turns_.record_of(id));
        }
        if (!record.queued) {
            enqueue(record);
            CO_TRY(turns_.try_save(record));
        }
    }
    co_await look(project);
    const auto record = turns_.record_of(id);
    Outcome outcome;
    if (record && record->queued) outcome.notes = {waits(*record)};
    co_return outcome;
}

Awaitable<Result<void>> Queue::approve_one(TaskId id, Caller by) {
    CO_TRY(auto turn, co_await turns_.begin_turn(id));
    auto& record = turn.record;
    if (!record.unapproved) co_return Result<void>{};
    record.unapproved = false;
    record.task.updated_at = world_.clock.now();
    CO_TRY(turns_.try_save(record));
    world_.journal.write(record, "task.approved", {{"by", name_text(by.role)}});
    co_await turns_.show(record);
    co_return Result<void>{};
}

Awaitable<Result<Outcome>> Queue::approve(TaskId id, Caller by) {
    CO_TRY(const auto record, turns_.record_of(id));
    std::vector<TaskId> waiting;
    if (record.unapproved) waiting.push_back(id);
    for (const auto& child : children_of(world_, record)) {
        if (child.unapproved) waiting.push_back(child.id);
    }
    Outcome outcome;
    if (waiting.empty()) outcome.notes = {"there was nothing to approve"};
    for (const auto& each : waiting) CO_TRY(co_await approve_one(each, by));
    co_await look(record.task.project);
    for (const auto& each : waiting) {
        const auto now = turns_.record_of(each);
        if (!now) continue;
        auto text = "approved " + each.value + ": " + printable(now->task.summary);
        if (now->queued) text += "; " + waits(*now);
        outcome.notes.push_back(std::move(text));
    }
    co_return outcome;
}

void Queue::schedule(const std::string& project) {
    async::spawn(world_.executor, "queue", look_soon([this, project] { return look(project); }));
}

void Queue::room_changed() {
    if (looking_again_ || (held_back_.empty() && !runner_.capacity.is_limited())) return;
    looking_again_ = true;
    async::spawn(world_.executor, "held back", look_soon([this] {
                     looking_again_ = false;  // reset first: a change during the look causes another look
                     return look_at_held_back();
                 }));
}

/// Yields first: the code that saved the task still works with it, and starts that fail at once would otherwise pile up
/// on the caller's stack.
Awaitable<void> Queue::look_soon(std::function<Awaitable<void>()> look) {
    co_await async::yield();
    co_await look();
}

Awaitable<void> Queue::look(std::string project) {
    const auto* registered = world_.projects.find(project);
    if (!registered) co_return;
    const auto is_its = [&](const TaskRecord& record) { return record.task.project == project; };
    const auto starts = start_due(runner_.capacity.snapshot(), is_its);
    while (starts->under_way > 0) co_await starts->ended.wait();
}

/// A freed workspace does not start a pending task (a cancelled task starts none). A lifted limit starts the tasks that
/// it held back.
Awaitable<void> Queue::look_at_held_back() {
    const auto snapshot = runner_.capacity.snapshot();
    const auto before = std::exchange(held_back_, {});
    for (const auto& id : queue::held_back(snapshot)) {
        if (world_.tasks.awake(id)->held.empty()) held_back_.insert(id);
    }
    const auto was_held = [&](const TaskRecord& record) { return before.contains(record.task.id); };
    const auto starts = start_due(snapshot, was_held);
    while (starts->under_way > 0) co_await starts->ended.wait();
}

/// Begins the pending tasks that are due and `wanted`, and reports the tasks that have begun whose agents may start.
/// The starts run side by side, since one project's setup may take minutes.
std::shared_ptr<Queue::Starts> Queue::start_due(const queue::Snapshot& look,
                                                const std::function<bool(const TaskRecord&)>& wanted) {
    auto starts = std::make_shared<Starts>(world_.executor);
    having_room_.clear();
    for (const auto& id : queue::due(look)) {
        const auto record = world_.tasks.awake(id);
        if (!record->held.empty()) {
            having_room_.insert(id);
        } else if (wanted(*record)) {
            runner_.capacity.starting().insert(id);
            held_back_.erase(id);
            preparing_.insert(id);
            ++starts->under_way;
            async::spawn(world_.executor, "start", start_queued(id, starts));
        }
    }
    for (const auto& id : having_room_) has_room_now_(id);
    return starts;
}

Awaitable<Outcome> Queue::look_for(TaskId id, std::string project) {
    starts_[id] = {};
    co_await look(std::move(project));
    // Another look may have begun this start, which holds the task's lock until it ends.
    while (preparing_.contains(id)) {
        co_await turns_.free(id);
        co_await async::yield();
    }
    co_return std::move(starts_.extract(id).mapped());
}

Awaitable<bool> Queue::repository_answers(std::string project) {
    const auto* registered = world_.projects.find(project);
    if (!registered) co_return true;
    const auto path = registered->path;
    const auto trees = co_await git::worktrees(world_.git, path);
    co_return trees.has_value();
}

Awaitable<void> Queue::restart_stalled() {
    const auto stalled = stalled_;
    if (stalled.empty() || !co_await world_.tmux.list()) co_return;
    for (const auto& project : stalled) {
        if (!co_await repository_answers(project)) continue;
        stalled_.erase(project);
        schedule(project);
    }
}

Awaitable<void> Queue::start_queued(TaskId id, std::shared_ptr<Starts> starts) {
    struct Ending {  // its destructor also runs if the start throws
        Queue& queue;
        TaskId id;
        Starts& starts;
        std::optional<std::string> go_on = {};  ///< the project whose next task may be started instead
        std::string project = {};               ///< the project to try again if the start throws
        bool finished = false;
        ~Ending() {
            queue.preparing_.erase(id);
            queue.runner_.capacity.starting().erase(id);
            --starts.under_way;
            starts.ended.notify();
            if (go_on) queue.schedule(*go_on);
            if (!finished && !project.empty()) queue.stalled_.insert(project);
        }
    } ending{*this, id, *starts};
    auto turn = co_await runner_.transitions.begin_turn(id);
    if (!turn || !turn->record.queued || turn->record.kept_back()) co_return;
    ending.project = turn->record.task.project;
    auto started = co_await start_pending(turn->record, daemon_for("queue"));
    ending.finished = true;
    // The workspace is free again, but the same cause may keep all agents from starting: the poll looks again.
    if (started && !started->spawn_error.empty()) stalled_.insert(ending.project);
    if (started && starts_.contains(id)) starts_[id] = *started;
    if (started || started.error().code == ErrorCode::pool_exhausted) co_return;
    ending.go_on = co_await note_failure(id, started.error());
}

/// A task that has begun waits in the queue for its next step, which is tried again when its notice is acknowledged.
std::string Queue::command_to_try_again(const TaskRecord& record) const {
    const auto definition = turns_.definition_of(record.task);
    const bool begun = definition && record.task.status != (*definition)->initial().name;
    return (begun ? "orange task ack " : "orange task spawn ") + record.task.id.value;
}

Awaitable<Result<void>> Queue::start_held(TaskRecord& record) {
    const InSet<TaskId> starting(runner_.capacity.starting(), record.task.id);
    CO_TRY(const auto definition, turns_.definition_of(record.task));
    Result<void> done;
    bool failed = false;
    const auto held = record.held;
    for (const auto& start : held) {
        const auto started = co_await runner_.agents.spawn(record, *definition, order_of(start));
        if (started) continue;
        failed = true;
        if (auto noted = note_failure(record, start.role, started.error()); !noted) done = std::move(noted);
    }
    if (!failed) (void)clear(record, NoticeKind::start_failed);
    co_await turns_.show(record);
    co_return done;
}

/// Raises a notice about the failure. Returns the error if its cause may pass soon, so that the start is tried again.
Result<void> Queue::note_failure(TaskRecord& record, Role role, const Error& why) {
    const auto& id = record.task.id.value;
    const bool again = why.code == ErrorCode::unavailable || why.code == ErrorCode::timeout || shortage_in(why);
    if (!again) std::erase_if(record.held, [role](const DeferredStart& start) { return start.role == role; });
    const auto before = record;
    raise(world_, record, NoticeKind::start_failed,
          "the " + name_text(role) + " could not be started: " + why.message + (again ? "; Orange tries again" : ""),
          way_out_of(why.message, "orange task respawn " + id));
    const bool is_news = record != before;
    if (is_news && turns_.save(record)) world_.journal.write(record, "spawn.failed", {{"error", why.message}});
    return again ? Result<void>(why) : Result<void>{};
}

/// A task that would always fail in the same way blocks the others: it leaves the queue, and the human gets a notice.
/// In a shortage, or if the repository does not answer, all starts would fail: the tasks keep their places.
Awaitable<std::optional<std::string>> Queue::note_failure(TaskId id, Error why) {
    auto record = turns_.record_of(id);
    if (!record) co_return std::nullopt;
    const auto project = record->task.project;
    const auto shortage = shortage_in(why);
    const bool own_fault = !shortage && co_await repository_answers(project);
    if (!own_fault && !shortage) look_for_repositories(runner_);
    record = turns_.record_of(id);
    if (!record) co_return std::nullopt;
    const auto again = command_to_try_again(*record);
    auto error = why.message + "\nMend that, then start the task:\n  " + again;
    if (own_fault) {
        record->queued = false;
    } else {
        stalled_.insert(project);
        error = why.message + "; the task starts when " + (shortage ? shortage->over : "the repository answers") +
                (shortage ? ". " + shortage->advice : " (`orange doctor`)");
    }
    if (starts_.contains(id)) starts_[id].spawn_error = error;
    const auto before = record->notices;
    if (!record->stacked_on.empty() && why.details.contains("files")) {
        raise(world_, *record, NoticeKind::merge_conflict, why.message, again);
    } else {
        raise(world_, *record, NoticeKind::start_failed, "the task could not be started: " + error, again);
    }
    if (!own_fault && record->notices == before) co_return std::nullopt;  // the notice is not new
    if (!turns_.save(*record)) {  // still in the queue: the next look would only fail again
        stalled_.insert(project);
        if (starts_.contains(id)) starts_[id].spawn_error = why.message + "; Orange tries again";
        co_return std::nullopt;
    }
    world_.journal.write(*record, "spawn.failed", {{"error", why.message}});
    co_await turns_.show(*record);
    if (!own_fault) co_return std::nullopt;
    co_return project;
}

}  // namespace orange
