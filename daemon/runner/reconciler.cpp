#include "daemon/runner/reconciler.hpp"

#include <algorithm>
#include <utility>

#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/blockers.hpp"
#include "daemon/runner/children.hpp"
#include "daemon/runner/delegation.hpp"
#include "daemon/runner/dependencies.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_first_delay{1'000}, k_longest_delay{30'000};

/// Doubles with each failure in a row.
milliseconds delay_after(int failures) {
    constexpr int k_most_doublings = 5;
    return std::min(k_first_delay * (1 << std::min(failures - 1, k_most_doublings)), k_longest_delay);
}

/// One function for each step, with the record of the task's turn.
struct Performer {
    Runner& runner;
    TaskRecord& record;

    Awaitable<Result<void>> operator()(engine::step::NoteBlockers ended) const {
        return note_blockers(runner.world, runner.turns, runner.queue, record, std::move(ended));
    }
    Awaitable<Result<void>> operator()(engine::step::NoteChildren ended) const {
        return note_children(runner.world, runner.turns, record, std::move(ended));
    }
    Awaitable<Result<void>> operator()(engine::step::TellOfChildren tell) const {
        return tell_of_children(runner.world, runner.turns, record, std::move(tell));
    }
    Awaitable<Result<void>> operator()(engine::step::WaitForChildren wait) const {
        return wait_for_children(runner.turns, record, wait);
    }
    Awaitable<Result<void>> operator()(engine::step::GoOnAfterChildren) const {
        return go_on_after_children(runner, record);
    }
};

}  // namespace

Reconciler::Reconciler(Runner& runner) : runner_(runner), world_(runner.world) {
    observer_ = world_.tasks.observe([this](const TaskId& id) { saved(id); });
}

Reconciler::~Reconciler() {
    world_.tasks.unobserve(observer_);
}

void Reconciler::stop() {
    stopped_ = true;
    tasks_.clear();
}

void Reconciler::saved(const TaskId& id) {
    const auto waiting = world_.tasks.blocked_by(id);
    if (!waiting.empty() && blocker_state(world_, id) != BlockerState::open) {
        for (const auto& each : waiting) wake(each);
    }
    const auto* record = world_.tasks.find(id);
    if (!record) return;
    if (!record->task.parent.empty()) wake(record->task.parent);
    const auto task = tasks_.find(id);
    const bool by_own_step = task != tasks_.end() && task->second.is_stepping;  // which is followed by another look
    if (!by_own_step) wake(id);
}

void Reconciler::wake(const TaskId& id) {
    if (stopped_) return;
    auto& task = tasks_[id];
    std::erase_if(task.attempts, [](const auto& attempt) { return !attempt.second.not_before; });
    task.again = true;
    if (!std::exchange(task.is_awake, true)) async::spawn(world_.executor, "task", loop(id));
}

void Reconciler::wake_all() {
    auto ids = world_.tasks.active();
    for (const auto& id : world_.tasks.parents()) {
        const auto* record = world_.tasks.find(id);
        const bool is_over = record && store::has_ended(*record) && record->notices.empty();
        if (!is_over) ids.insert(id);
    }
    for (const auto& id : ids) {
        if (const auto task = tasks_.find(id); task != tasks_.end()) task->second.attempts.clear();
        wake(id);
    }
}

Awaitable<void> Reconciler::loop(TaskId id) {
    co_await async::yield();  // whoever woke the task may not be through with it
    while (!stopped_) {
        tasks_[id].again = false;
        const auto until = co_await step(id);
        if (stopped_) co_return;
        auto& task = tasks_[id];
        if (!until || task.again) continue;
        task.is_awake = false;
        task.alarm = {};
        if (until->in && runs_) set_alarm(id, *until->in);
        if (!until->in && task.attempts.empty()) tasks_.erase(id);
        co_return;
    }
}

void Reconciler::set_alarm(const TaskId& id, milliseconds time) {
    const auto ring = [](Reconciler& self, TaskId task, milliseconds pause) -> Awaitable<void> {
        const bool slept = co_await async::sleep(pause);
        if (slept) self.wake(task);
    };
    tasks_[id].alarm = async::spawn_stoppable(world_.executor, "alarm", ring(*this, id, time));
}

Awaitable<void> Reconciler::settle(TaskId id) {
    if (const auto task = tasks_.find(id); task != tasks_.end()) task->second.attempts.clear();
    for (;;) {
        const auto until = co_await step(id);
        if (until) co_return;
    }
}

Awaitable<Result<void>> Reconciler::pass_on_end(TaskId id) {
    if (blocker_state(world_, id) != BlockerState::done) co_return Result<void>{};
    auto concerned = world_.tasks.blocked_by(id);
    const auto parent = world_.tasks.find(id)->task.parent;
    if (world_.tasks.find(parent)) concerned.push_back(parent);
    for (const auto& each : concerned) {
        co_await settle(each);
        const auto* record = world_.tasks.find(each);
        const bool is_written =
            !record || record->children_done.contains(id) || record->blockers_done.contains(id) || store::has_ended(*record);
        if (is_written) continue;
        co_return Error(ErrorCode::io, "the end of task " + id.value + " could not be written into task " + each.value +
                                           ", which it concerns; see orange.log");
    }
    co_return Result<void>{};
}

Reconciler::Sight Reconciler::look_at(const TaskRecord& record) const {
    const auto definition = runner_.turns.definition_of(record.task);
    Sight sight{definition ? *definition : nullptr, engine::View{record}};
    auto& view = sight.view;
    view.definition = sight.definition.get();
    view.ended = store::has_ended(record);
    view.blockers = blockers_of(world_, record);
    view.children = children_of(world_, record);
    const auto task = tasks_.find(record.task.id);
    if (task == tasks_.end()) return sight;
    for (const auto& [index, attempt] : task->second.attempts) {
        if (attempt.not_before && *attempt.not_before <= async::now()) continue;
        engine::Hold hold{{}, attempt.why};
        if (attempt.not_before) hold.left = std::chrono::ceil<milliseconds>(*attempt.not_before - async::now());
        view.holds[index] = std::move(hold);
    }
    return sight;
}

engine::Until Reconciler::upcoming(const TaskRecord& record) const {
    const auto sight = look_at(record);
    auto next = engine::next(sight.view);
    if (auto* until = std::get_if<engine::Until>(&next)) return std::move(*until);
    return {milliseconds(0), std::string(engine::name_of(std::get<engine::Step>(next))), {}};
}

Awaitable<std::optional<engine::Until>> Reconciler::step(TaskId id) {
    const auto* found = world_.tasks.find(id);
    if (!found) co_return engine::Until{};
    {
        const auto sight = look_at(*found);
        auto next = engine::next(sight.view);
        if (auto* until = std::get_if<engine::Until>(&next)) co_return std::move(*until);
    }
    auto turn = co_await runner_.turns.begin_turn(id);
    if (!turn) co_return engine::Until{};
    const auto before = turn->record;
    const auto sight = look_at(before);
    auto next = engine::next(sight.view);
    if (auto* until = std::get_if<engine::Until>(&next)) co_return std::move(*until);
    auto& due = std::get<engine::Step>(next);
    const auto index = due.index();
    tasks_[id].is_stepping = true;
    auto done = co_await std::visit(Performer{runner_, turn->record}, std::move(due));
    if (stopped_) co_return engine::Until{};
    tasks_[id].is_stepping = false;
    const auto* now = world_.tasks.find(id);
    note(id, index, done, now && !(*now == before));
    co_return std::nullopt;
}

void Reconciler::note(const TaskId& id, std::size_t step, const Result<void>& done, bool changed) {
    auto& task = tasks_[id];
    if (done && changed) {
        task.attempts.erase(step);
        return;
    }
    auto& attempt = task.attempts[step];
    if (done) {  // it would change nothing again
        attempt = {};
        return;
    }
    log::warn("reconciler", done.error().message, {{"task", id.value}});
    attempt.why = std::string(first_line(done.error().message));
    attempt.not_before = async::now() + delay_after(++attempt.failures);
}

}  // namespace orange
