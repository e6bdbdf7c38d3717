#include "daemon/runner/family/family.hpp"

#include <algorithm>

#include "common/base/try.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

/// A human who has acknowledged that a blocker is gone gets no second notice.
void tell_gone(const World& world, TaskRecord& record, const std::vector<engine::Blocker>& gone) {
    const bool is_told =
        std::ranges::all_of(gone, [&](const auto& blocker) { return record.blockers_gone.contains(blocker.id); });
    if (gone.empty()) (void)clear(record, NoticeKind::blocker_gone);
    if (is_told && engine::find_notice(record, NoticeKind::blocker_gone) == nullptr) return;
    const auto names = gone_text(world, record);
    raise(world, record, NoticeKind::blocker_gone, engine::gone_text(gone),
          "orange task update " + record.task.id.value + " --unblock " + names, names);
}

}  // namespace

Awaitable<Result<void>> note_blockers(Runner& runner, TaskRecord& record, engine::step::NoteBlockers ended) {
    auto& world = runner.world;
    for (const auto& id : ended.done) {
        CO_TRY(world.journal.write_once(record, "blocker.done", {{"blocker", id.value}}));
        record.blockers_done.insert(id);
    }
    for (const auto& blocker : ended.gone) {
        CO_TRY(world.journal.write_once(record, "blocker.gone", {{"blocker", blocker.id.value}}));
    }
    tell_gone(world, record, ended.gone);
    for (const auto& blocker : ended.gone) record.blockers_gone.insert(blocker.id);
    CO_TRY(runner.turns.try_save(record));
    co_await runner.turns.show(record);
    if (!record.blocked()) runner.queue.schedule(record.task.project);
    co_return Result<void>{};
}

}  // namespace orange
