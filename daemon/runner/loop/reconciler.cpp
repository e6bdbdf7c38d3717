#include "daemon/runner/loop/reconciler.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_first_retry{1'000}, k_longest_retry{30'000};

/// Returns a delay that doubles with each failed try.
milliseconds delay_after(int tries) {
    constexpr int k_most_doublings = 5;
    return std::min(k_first_retry * (1 << std::min(tries - 1, k_most_doublings)), k_longest_retry);
}

}  // namespace

using Held = std::optional<engine::Hold>;

/// Performs each kind of step with the record of the task's turn.
struct Reconciler::Performer {
    Runner& runner;
    TaskRecord& record;
    Tries tries;

    Awaitable<Result<Held>> operator()(engine::step::NoteBlockers ended) const {
        return finish(note_blockers(runner, record, std::move(ended)));
    }
    Awaitable<Result<Held>> operator()(engine::step::NoteChildren ended) const {
        return finish(note_children(runner, record, std::move(ended)));
    }
    Awaitable<Result<Held>> operator()(engine::step::EndUnpicked) const { return finish(end_unpicked(runner, record)); }
    Awaitable<Result<Held>> operator()(engine::step::MakeAttempts) const {
        return finish(make_attempts(runner, record));
    }
    Awaitable<Result<Held>> operator()(engine::step::TellOfChildren tell) const {
        return finish(tell_of_children(runner, record, std::move(tell)));
    }
    Awaitable<Result<Held>> operator()(engine::step::WaitForChildren wait) const {
        return finish(wait_for_children(runner, record, wait));
    }
    Awaitable<Result<Held>> operator()(engine::step::GoOnAfterChildren) const {
        return finish(go_on_after_children(runner, record));
    }
    Awaitable<Result<Held>> operator()(engine::step::StopSpent) const {
        CO_TRY(co_await runner.budgets.stop(record));
        co_return Held{};
    }
    Awaitable<Result<Held>> operator()(engine::step::StopLeft) const {
        return finish(runner.placements.stop_left(record));
    }
    Awaitable<Result<Held>> operator()(engine::step::FollowBelow step) const {
        return follow_below(runner, record, std::move(step.below));
    }
    Awaitable<Result<Held>> operator()(engine::step::StartAgents) const {
        return finish(runner.queue.start_held(record));
    }
    Awaitable<Result<Held>> operator()(engine::step::Deliver deliver) const {
        return runner.outbox.deliver_next(record, tries, deliver.without_own);
    }
    Awaitable<Result<Held>> operator()(engine::step::Acknowledge) const { return runner.outbox.acknowledge(record); }
    Awaitable<Result<Held>> operator()(engine::step::ClearIdle) const {
        return finish(clear_idle(runner.turns, record));
    }
    Awaitable<Result<Held>> operator()(engine::step::Remind step) const { return remind(runner, record, step); }
    Awaitable<Result<Held>> operator()(engine::step::Notify step) const {
        auto& self = runner.reconciler;
        auto& task = self.tasks_[record.task.id];
        task.needed = step.needs.kind;
        task.permit = step.needs.permit;
        task.handed_over = record.to_tell;  // the notifier removes it from the record when it sends it
        if (self.notified_) self.notified_(record, step.needs, record.to_tell);
        publish(step.needs);
        co_return Held{};
    }

    /// Publishes the need, since not every need comes with another event.
    void publish(const Needs& needs) const {
        if (needs.kind <= Need::start) return;
        HistoryEvent event{"task.needs", {}, {{"needs", name_text(needs.kind)}, {"text", needs.text}}};
        runner.world.journal.publish(record.task.id, record.task.project, std::move(event));
    }

    static Awaitable<Result<Held>> finish(Awaitable<Result<void>> step) {
        CO_TRY(co_await std::move(step));
        co_return Held{};
    }
};

Reconciler::Reconciler(Runner& runner) : Owner(runner) {
    runner_.activities.on_change([this](const TaskId& id) { wake(id); });
    runner_.queue.on_room([this](const TaskId& id) { wake(id); });
}

Reconciler::~Reconciler() {
    world_.tasks.unobserve(observer_);
    runner_.activities.on_change([](const TaskId&) {});
    runner_.queue.on_room([](const TaskId&) {});
}

void Reconciler::start() {
    const auto ring = [](std::function<void()> wake, milliseconds time) -> Awaitable<void> {
        const bool slept = co_await async::sleep(time);
        if (slept) wake();
    };
    start([this, ring](milliseconds time, std::function<void()> wake) {
        return async::spawn_stoppable(world_.executor, "alarm", ring(std::move(wake), time));
    });
}

void Reconciler::stop() {
    stopped_ = true;
    tasks_.clear();
}

void Reconciler::saved(const TaskId& id) {
    const auto waiting = world_.tasks.blocked_by(id);
    const bool has_ended = !waiting.empty() && blocker_state(world_, id) != BlockerState::open;
    for (const auto& each : waiting) {
        const auto task = world_.tasks.awake(each);
        if (has_ended || (task && task->task.on == id)) wake(each);
    }
    runner_.queue.room_changed();
    const auto* brief = world_.tasks.brief(id);
    const auto task = tasks_.find(id);
    if (!brief) {
        if (task != tasks_.end() && !task->second.is_awake) tasks_.erase(task);
        return;
    }
    if (!brief->parent.empty()) wake(brief->parent);
    wake_attempts(id);
    const bool by_own_step = task != tasks_.end() && task->second.is_stepping;  // another look follows
    if (!by_own_step) wake(id);
}

/// Wakes the attempts of a parent: whether they go on, and what they need, depends on it.
void Reconciler::wake_attempts(const TaskId& parent) {
    const auto record = world_.tasks.awake(parent);
    if (!record || record->attempts.empty()) return;
    for (const auto& below : open_below(world_, parent)) wake(below);
}

void Reconciler::wake(const TaskId& id) {
    if (stopped_) return;
    auto& task = tasks_[id];
    end_waits_for_change(task);
    begin(id);
}

void Reconciler::begin(const TaskId& id) {
    if (stopped_) return;
    auto& task = tasks_[id];
    task.again = true;
    if (!std::exchange(task.is_awake, true)) async::spawn(world_.executor, "task", loop(id));
}

Awaitable<void> Reconciler::wake_all() {
    auto ids = world_.tasks.active();
    for (const auto& id : world_.tasks.parents()) {
        const auto* task = world_.tasks.brief(id);
        const bool is_over = task && task->ended && !world_.tasks.is_open(*task);
        if (!is_over) ids.insert(id);
    }
    for (const auto& id : ids) {
        end_delays(id);
        wake(id);
        co_await async::yield();
    }
}

void Reconciler::room_changed() {
    for (const auto& id : world_.tasks.held()) end_delays(id);
    runner_.queue.room_changed();
}

void Reconciler::end_waits_for_change(Task& task) {
    for (auto& [step, attempt] : task.attempts) {
        if (attempt.ends_with_change) attempt.not_before = async::now();
    }
}

void Reconciler::end_delays(const TaskId& id) {
    const auto task = tasks_.find(id);
    if (task == tasks_.end()) return;
    for (auto& [step, attempt] : task->second.attempts) attempt.not_before = async::now();
}

void Reconciler::start_over(const TaskId& id) {
    if (const auto task = tasks_.find(id); task != tasks_.end()) task->second.attempts.clear();
    wake(id);
}

Awaitable<void> Reconciler::loop(TaskId id) {
    co_await async::yield();  // the code that woke the task may still work with it
    while (!stopped_) {
        tasks_[id].again = false;
        std::optional<engine::Until> until;
        try {
            until = co_await step(id, set_alarm_ != nullptr);
        } catch (...) {
            tasks_[id].is_awake = false;  // the next change or poll begins again
            throw;
        }
        if (stopped_) co_return;
        if (!until || tasks_[id].again) continue;
        if (world_.task_locks.busy(id.value)) {  // the task is between two states, and is looked at after the turn
            co_await turns_.free(id);
            continue;
        }
        sleep(id, *until);
        co_return;
    }
}

void Reconciler::sleep(const TaskId& id, const engine::Until& until) {
    auto& task = tasks_[id];
    task.is_awake = false;
    task.alarm.reset();
    const auto* brief = world_.tasks.brief(id);
    const bool is_over = !brief || (brief->ended && task.needed.value_or(Need::nothing) == Need::nothing);
    if (!until.in && (is_over || (!set_alarm_ && task.attempts.empty()))) {
        tasks_.erase(id);
    } else if (until.in && set_alarm_) {
        task.alarm = set_alarm_(*until.in, [this, id] { begin(id); });
    }
}

Awaitable<void> Reconciler::settle(TaskId id) {
    end_delays(id);
    co_await turns_.free(id);  // a transition that is under way may hide what is due
    for (;;) {
        const auto until = co_await step(id, true);
        if (until) break;
    }
    begin(id);  // sets the alarm for the steps that are not due yet
}

Awaitable<Result<void>> Reconciler::pass_on_end(TaskId id) {
    if (blocker_state(world_, id) != BlockerState::done) co_return Result<void>{};
    auto concerned = world_.tasks.blocked_by(id);
    const auto parent = world_.tasks.brief(id)->parent;
    if (world_.tasks.brief(parent)) concerned.push_back(parent);
    for (const auto& each : concerned) {
        co_await settle(each);
        const auto record = world_.tasks.awake(each);
        const bool follows = record && record->stands_on_other() && record->task.on == id;
        const bool is_told = !follows || record->on_told.starts_with(engine::k_below_done);
        const bool is_written = !record || record->children_done.contains(id) || record->blockers_done.contains(id) ||
                                store::has_ended(*record);
        if (is_written && is_told) continue;
        co_return Error(ErrorCode::io, "the end of task " + id.value + " could not be written into task " + each.value +
                                           ", which it concerns; see orange.log");
    }
    co_return Result<void>{};
}

Reconciler::Snapshot Reconciler::look_at(const TaskRecord& record, bool on_duty) const {
    const auto definition = turns_.definition_of(record.task);
    Snapshot sight{definition ? *definition : nullptr, engine::View{record}};
    auto& view = sight.view;
    view.definition = sight.definition.get();
    view.ended = store::has_ended(record);
    view.blockers = blockers_of(world_, record);
    view.children = children_of(world_, record);
    view.below = below_of(world_, record);
    view.unpicked = is_unpicked(world_, record);
    view.is_merging = !Merges::under_way(record).empty();
    view.stops_spent = runner_.agents.any_may_live(record) && runner_.budgets.is_stop_due(record);
    view.budget_spent = !runner_.budgets.may_begin(record);
    view.has_room = runner_.queue.has_room(record.task.id);
    view.is_on_duty = on_duty;
    view.now = world_.clock.now();
    if (on_duty) look_at_agents(view);
    look_at_holds(view);
    return sight;
}

void Reconciler::look_at_agents(engine::View& view) const {
    const auto& record = view.record;
    view.is_checking = !runner_.checks.under_way(record.task.id).empty();
    view.needs = needs_of(runner_, record);
    const auto task = tasks_.find(record.task.id);
    const bool is_known = task != tasks_.end() && task->second.needed;
    const bool was_notified = record.notified == view.needs.since;  // by an earlier daemon
    const bool is_handed_over = task != tasks_.end() && task->second.handed_over == record.to_tell;
    view.has_untold_text = record.to_tell && !is_handed_over;
    view.permit_before = is_known ? task->second.permit : was_notified ? view.needs.permit : 0;
    view.needed_before = is_known ? *task->second.needed : was_notified ? view.needs.kind : Need::nothing;
    const bool is_same = task != tasks_.end() && task->second.body_since && task->second.body == record.body_hash;
    view.unchanged_since = std::max(record.task.updated_at, is_same ? *task->second.body_since : view.now);
    for (const Role role : {Role::worker, Role::reviewer}) {
        const auto seen = runner_.activities.of(record, role);
        if (seen && seen->activity == Activity::idle) view.idle.insert(role);
    }
    const auto* state = view.definition ? view.definition->state(record.task.status) : nullptr;
    if (!state || !state->agent) return;
    view.agent = runner_.activities.of(record, *state->agent);
    view.idle_times = idle_times(world_, record, *state->agent);
}

void Reconciler::look_at_holds(engine::View& view) const {
    const auto task = tasks_.find(view.record.task.id);
    if (task == tasks_.end()) return;
    const auto& outbox = view.record.outbox;
    for (const auto& [index, attempt] : task->second.attempts) {
        const bool is_other =
            !attempt.message.empty() && std::ranges::find(outbox, attempt.message, &Message::id) == outbox.end();
        if (is_other || (attempt.not_before && *attempt.not_before <= async::now())) continue;
        auto& hold = view.holds[index].emplace();
        hold.why = attempt.why;
        if (attempt.not_before) hold.left = std::chrono::ceil<milliseconds>(*attempt.not_before - async::now());
    }
}

std::optional<engine::Upcoming> Reconciler::upcoming(const TaskRecord& record) const {
    const auto sight = look_at(record, set_alarm_ != nullptr);
    auto next = engine::next(sight.view);
    if (auto* until = std::get_if<engine::Until>(&next)) return std::move(until->upcoming);
    const auto what = engine::name_of(std::get<engine::Step>(next));
    return what.empty() ? std::nullopt : std::optional(engine::Upcoming{std::string(what), milliseconds(0), {}});
}

bool Reconciler::is_reminder_due(const TaskRecord& record) const {
    return engine::is_reminder_due(look_at(record, true).view);
}

engine::Until Reconciler::rest(const TaskId& id, const engine::View& view, engine::Until until) {
    auto& task = tasks_[id];
    if (view.is_on_duty && !view.record.intent && !view.is_merging) {
        task.needed = view.needs.kind;
        task.permit = view.needs.permit;
    }
    if (!view.record.to_tell) task.handed_over.reset();
    if (!task.body_since || task.body != view.record.body_hash) {
        task.body = view.record.body_hash;
        task.body_since = view.now;
    }
    return until;
}

Awaitable<std::optional<engine::Until>> Reconciler::step(TaskId id, bool on_duty) {
    const auto found = world_.tasks.read(id).value_or(nullptr);
    if (!found) co_return engine::Until{};
    {
        const auto sight = look_at(*found, on_duty);
        auto next = engine::next(sight.view);
        if (auto* until = std::get_if<engine::Until>(&next)) {
            if (world_.task_locks.busy(id.value)) co_return std::move(*until);
            co_return rest(id, sight.view, std::move(*until));
        }
    }
    auto turn = co_await turns_.begin_turn(id);
    if (!turn) co_return engine::Until{};
    const auto before = turn->record;
    const auto sight = look_at(before, on_duty);
    auto next = engine::next(sight.view);
    if (auto* until = std::get_if<engine::Until>(&next)) co_return rest(id, sight.view, std::move(*until));
    const auto due = std::move(std::get<engine::Step>(next));
    auto& task = tasks_[id];
    task.is_stepping = true;
    task.again = false;
    const auto attempt = task.attempts.find(due.index());
    const auto* message = std::get_if<engine::step::Deliver>(&due);
    const bool is_tried = attempt != task.attempts.end() && (!message || attempt->second.message == message->message);
    const Tries tries = is_tried ? attempt->second.tries : Tries{};
    const Performer performer{runner_, turn->record, tries};
    Result<Held> done = Held{};
    try {
        done = co_await std::visit(performer, due);
    } catch (...) {
        tasks_[id].is_stepping = false;
        throw;
    }
    if (stopped_) co_return engine::Until{};
    tasks_[id].is_stepping = false;
    const auto now = world_.tasks.read(id).value_or(nullptr);
    note(id, due, done, now && !(*now == before));
    co_return std::nullopt;
}

void Reconciler::note(const TaskId& id, const engine::Step& step, const Result<Held>& done, bool changed) {
    auto& task = tasks_[id];
    if (changed) end_waits_for_change(task);
    Held hold = done ? *done : Held{};
    if (done && !hold && !changed) hold.emplace();  // a repetition would change nothing
    if (done && !hold) {
        task.attempts.erase(step.index());
        return;
    }
    const auto* message = std::get_if<engine::step::Deliver>(&step);
    auto& attempt = task.attempts[step.index()];
    if (message && attempt.message != message->message) attempt = {};
    if (message) attempt.message = message->message;
    ++attempt.tries.count;
    if (!done) {
        log::warn("reconciler", done.error().message, {{"task", id.value}});
        hold = engine::Hold{delay_after(attempt.tries.count), first_line(done.error().message), false};
    }
    attempt.why = hold->why;
    attempt.ends_with_change = hold->ends_with_change;
    if (!hold->counts) attempt.tries.since = async::now();
    attempt.not_before.reset();
    if (hold->left) attempt.not_before = async::now() + *hold->left;
    if (hold->ends_with_change && task.again) attempt.not_before = async::now();  // the task has changed meanwhile
}

}  // namespace orange
