#include "daemon/runner/dependencies.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/runner/blockers.hpp"
#include "daemon/runner/notices.hpp"

namespace orange {
namespace {

/// "4f2a was cancelled, and 7b1c was deleted"
std::string gone_sentence(const World& world, const std::vector<TaskId>& gone) {
    std::vector<std::string> parts;
    for (const auto& id : gone) {
        const auto* record = world.tasks.find(id);
        const bool broken =
            std::ranges::any_of(world.tasks.unreadable(), [&](const auto& each) { return each.id == id.value; });
        parts.push_back(world.tasks.short_id(id) + (record   ? " has ended with the status " + record->task.status
                                                    : broken ? " cannot be read (orange doctor)"
                                                             : " is deleted"));
    }
    return join(parts, ", and ");
}

}  // namespace

Dependencies::Dependencies(World& world, Turns& turns, Waiting& waiting)
    : world_(world), turns_(turns), waiting_(waiting) {
    observer_ = world_.tasks.observe([this](const TaskId& id) { changed(id); });
}

Dependencies::~Dependencies() {
    world_.tasks.unobserve(observer_);
}

/// Costs nothing for a task that nobody waits for and that waits for nobody.
void Dependencies::changed(const TaskId& id) {
    if (world_.tasks.blocked().contains(id)) settle_soon(id);
    const auto waiting = world_.tasks.blocked_by(id);
    if (waiting.empty() || blocker_state(world_, id) == BlockerState::open) return;
    for (const auto& each : waiting) settle_soon(each);
}

void Dependencies::look_at_all() {
    for (const auto& id : world_.tasks.blocked()) settle_soon(id);
}

void Dependencies::settle_soon(const TaskId& id) {
    const auto* record = world_.tasks.find(id);
    if (!record) return;
    const auto open = record->waits_for();
    const bool as_it_is = std::ranges::all_of(
        open, [&](const TaskId& blocker) { return blocker_state(world_, blocker) == BlockerState::open; });
    const bool says_gone = engine::find_notice(*record, NoticeKind::blocker_gone) != nullptr;
    if (as_it_is && !says_gone) return;
    if (soon_.insert(id).second) async::spawn(world_.executor, "dependencies", settle_once(id));
}

Awaitable<void> Dependencies::settle_once(TaskId id) {
    soon_.erase(id);  // before looking: what comes while we look is looked at again
    co_await settle(id);
}

Awaitable<void> Dependencies::retry() {
    const auto left = std::exchange(left_, {});
    for (const auto& id : left) co_await settle(id);
}

/// The history says of which blocker it is known that it is gone: who has acknowledged that is not told again.
bool Dependencies::is_told(const TaskId& id, const TaskId& gone) const {
    const auto history = world_.tasks.history(id);
    return history && std::ranges::any_of(*history, [&](const HistoryEvent& event) {
               const auto blocker = event.fields.find("blocker");
               return event.type == "blocker.gone" && blocker != event.fields.end() &&
                      blocker->second == Scalar{gone.value};
           });
}

void Dependencies::tell_gone(TaskRecord& record, const std::vector<TaskId>& gone) {
    if (gone.empty()) {
        (void)clear(record, NoticeKind::blocker_gone);
        return;
    }
    const auto& id = record.task.id;
    const bool news = std::ranges::any_of(gone, [&](const TaskId& each) { return !is_told(id, each); });
    if (!news && engine::find_notice(record, NoticeKind::blocker_gone) == nullptr) return;
    const auto names = gone_text(world_, record);
    raise(world_, record, NoticeKind::blocker_gone,
          "it waits for a task that will never be done: " + gone_sentence(world_, gone) +
              ". Start it without (--unblock " + names + "), or cancel it (orange task cancel)",
          "orange task update " + id.value + " --unblock " + names, names);
}

/// Each is repeated after a crash, and recognized: what is done is told before it is written, since nobody looks at it
/// afterwards; what is gone is told after it.
Awaitable<void> Dependencies::settle(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    if (!turn || turn->record.intent || store::has_ended(turn->record) || !turn->record.blocked()) co_return;
    auto& record = turn->record;
    const auto before = record;
    std::vector<TaskId> gone;
    for (const auto& blocker : before.waits_for()) {
        const auto state = blocker_state(world_, blocker);
        if (state == BlockerState::gone) gone.push_back(blocker);
        if (state != BlockerState::done) continue;
        record.blockers_done.insert(blocker);
        const auto told = world_.journal.write_once(record, "blocker.done", {{"blocker", blocker.value}});
        if (!told) {
            left_.insert(id);
            co_return;
        }
    }
    tell_gone(record, gone);
    if (record != before && !turns_.save(record)) {
        left_.insert(id);
        co_return;
    }
    for (const auto& blocker : gone) {
        if (!world_.journal.write_once(record, "blocker.gone", {{"blocker", blocker.value}})) left_.insert(id);
    }
    if (record != before) co_await turns_.show(record);
    if (!record.blocked()) waiting_.kick(record.task.project);
}

Awaitable<Result<void>> Dependencies::settle_waiting_for(TaskId id) {
    if (blocker_state(world_, id) != BlockerState::done) co_return Result<void>{};
    const auto waiting = world_.tasks.blocked_by(id);
    for (const auto& each : waiting) co_await settle(each);
    if (world_.tasks.blocked_by(id).empty()) co_return Result<void>{};
    co_return Error(ErrorCode::io, "task " + id.value + " is what task " + world_.tasks.blocked_by(id).front().value +
                                       " waits for, and that it is done could not be written; see orange.log");
}

}  // namespace orange
