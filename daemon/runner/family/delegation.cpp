#include "daemon/runner/family/family.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

std::string ids_text(const std::vector<TaskId>& ids) {
    std::vector<std::string> texts;
    for (const auto& id : ids) texts.push_back(id.value);
    return join(texts, " ");
}

/// Raises the notice that the task could not continue. `tries_again`: Orange tries again by itself.
void tell_of_failure(Runner& runner, TaskRecord& record, const Error& why, bool tries_again) {
    log::warn("runner", why.message, {{"task", record.task.id.value}});
    const auto& id = record.task.id.value;
    const auto before = record;
    raise(runner.world, record, NoticeKind::start_failed,
          "all sub-tasks are done, and the task could not go on: " + why.message +
              (tries_again ? "; Orange tries again" : "; then run `orange task ack " + id + "`"),
          tries_again ? "orange task why " + id : "orange task ack " + id, tries_again ? engine::k_tried_again : "");
    if (record != before) runner.turns.save(record);
}

}  // namespace

Awaitable<Result<void>> note_children(Runner& runner, TaskRecord& record, engine::step::NoteChildren ended) {
    for (const auto& id : ended.done) {
        CO_TRY(runner.world.journal.write_once(record, "child.done", {{"child", id.value}}));
        record.children_done.insert(id);
    }
    CO_TRY(runner.turns.try_save(record));
    co_await runner.turns.show(record);
    co_return Result<void>{};
}

Awaitable<Result<void>> tell_of_children(Runner& runner, TaskRecord& record, engine::step::TellOfChildren tell) {
    const auto with = tell.trouble ? tell.trouble->with : std::vector<TaskId>();
    const bool approval_is_news = tell.unapproved != record.unapproved_told,
               trouble_is_news = with != record.trouble_told;
    if (tell.unapproved.empty()) {
        (void)clear(record, NoticeKind::children_unapproved);
    } else if (approval_is_news) {
        raise(runner.world, record, NoticeKind::children_unapproved, engine::unapproved_text(tell.unapproved.size()),
              "orange task approve " + record.task.id.value);
    }
    // Keep the text of an open notice up to date, even if the human is not notified again.
    if (!tell.trouble) {
        (void)clear(record, NoticeKind::child_needs_you);
    } else if (trouble_is_news || engine::find_notice(record, NoticeKind::child_needs_you)) {
        raise(runner.world, record, NoticeKind::child_needs_you, tell.trouble->text, tell.trouble->command.text());
    }
    record.unapproved_told = std::move(tell.unapproved);
    record.trouble_told = with;
    CO_TRY(runner.turns.try_save(record));
    if (approval_is_news) {
        runner.world.journal.write(record, "children.unapproved", {{"children", ids_text(record.unapproved_told)}});
    }
    if (trouble_is_news) runner.world.journal.write(record, "children.trouble", {{"children", ids_text(with)}});
    co_await runner.turns.show(record);
    co_return Result<void>{};
}

Awaitable<Result<void>> wait_for_children(Runner& runner, TaskRecord& record, engine::step::WaitForChildren wait) {
    if (wait.leaves_queue) record.queued = false;
    const auto* failed = engine::find_notice(record, NoticeKind::start_failed);
    if (failed && failed->cause == engine::k_tried_again) (void)clear(record, NoticeKind::start_failed);
    co_return runner.turns.try_save(record);
}

Awaitable<Result<void>> go_on_after_children(Runner& runner, TaskRecord& record) {
    const auto id = record.task.id;
    const auto outcome = co_await decide_after_children(runner, record);
    if (!outcome) {
        tell_of_failure(runner, record, outcome.error(), true);
        co_return outcome.error();
    }
    if (wants_workspace(record, *outcome)) {
        (void)clear(record, NoticeKind::start_failed);  // the queue says what the task waits for
        runner.queue.enqueue(record);
        CO_TRY(runner.turns.try_save(record));
        runner.queue.schedule(record.task.project);
        co_return Result<void>{};
    }
    const auto moved = co_await move_after_children(runner, record);
    if (moved) co_return Result<void>{};
    const bool tries_again = moved.error().code == ErrorCode::io;
    auto now = runner.turns.record_of(id);
    if (now && !now->intent) tell_of_failure(runner, *now, moved.error(), tries_again);
    if (tries_again) co_return moved.error();
    co_return Result<void>{};
}

}  // namespace orange
