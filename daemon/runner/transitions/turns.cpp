#include "daemon/runner/transitions/turns.hpp"

#include "common/base/sha256.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/comments.hpp"
#include "daemon/engine/times.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/runner/transitions/given_files.hpp"
#include "daemon/store/comment_file.hpp"
#include "daemon/store/sections.hpp"

namespace orange {
namespace {

constexpr const char* k_questions = "Questions";
constexpr std::chrono::milliseconds k_late_writer{300};  ///< until a file that its writer had open is read again

/// Adds the sections that the workflow's gates and rules ask for: they belong to the agents.
store::Copies with_sections(store::Copies copies, const Result<workflow::Library::DefinitionPtr>& definition) {
    if (!definition) return copies;
    const auto add = [&](const std::optional<engine::Gate>& gate) {
        if (gate && !gate->section.empty()) copies.sections.insert(gate->section);
        if (gate && gate->verdict) copies.verdicts.insert(gate->section);
    };
    for (const auto& transition : (*definition)->transitions) add(transition.gate);
    for (const auto& rule : (*definition)->exit_rules) add(rule.has_artifact);
    return copies;
}

}  // namespace

Owner::Owner(Runner& runner) : runner_(runner), world_(runner.world), turns_(runner.turns) {}

Awaitable<Result<TaskTurn>> Turns::begin_turn(TaskId id) {
    auto held = co_await lock(id);
    CO_TRY(auto record, record_of(id));
    TaskTurn turn{std::move(held), std::move(record)};
    co_return turn;
}

Awaitable<async::Mutex::Lock> Turns::lock(TaskId id) {
    auto held = co_await world_.task_locks.acquire(id.value);
    co_return held;
}

Awaitable<void> Turns::free(TaskId id) {
    const auto held = co_await lock(std::move(id));
}

Result<TaskRecord> Turns::record_of(const TaskId& id) const {
    TRY(const auto record, world_.tasks.read(id));
    return *record;
}

Result<workflow::Library::DefinitionPtr> Turns::definition_of(const Task& task) const {
    return world_.workflows.pinned(task.workflow, task.workflow_hash);
}

Awaitable<Result<SyncedBodies>> Turns::sync_bodies(TaskRecord& record) {
    const auto copies = with_sections(copies_of(world_, record), definition_of(record.task));
    std::vector<store::SectionEdit> edits;
    if (!record.unwritten_feedback.empty()) edits.push_back({"Feedback", record.unwritten_feedback});
    if (!record.unwritten_files.empty()) edits.push_back({k_files_section, record.unwritten_files, true});
    auto written = co_await world_.task_files.write_sections(record, copies, std::move(edits));
    if (!written) co_return written.error();
    SyncedBodies synced;
    synced.notices_before = record.notices;
    synced.artifacts = written->text->artifacts();
    for (const auto& [heading, time] : written->rewritten) {
        if (record.entered_at && time > *record.entered_at) synced.artifacts.rewritten.insert(heading);
    }
    record.unwritten_feedback.clear();
    record.unwritten_files.clear();
    if (record.comment_step > 0) {
        const auto comments = store::read_comments(world_.files, world_.tasks.folder(record), record.comment_step);
        if (comments) synced.artifacts.unanswered = engine::unanswered(*comments, record.comment_step);
        if (!comments)
            synced.artifacts.comments_unread =
                "the human's comments cannot be read, so nobody knows "
                "which of them wait for an answer. Ask your human to run:\n  "
                "orange comments " +
                record.task.id.value;
    }
    const auto asked = synced.artifacts.sections.find(k_questions);
    const auto questions = asked == synced.artifacts.sections.end() ? std::string() : asked->second.text;
    if (questions.empty()) record.questions.clear();
    if (!questions.empty() && !is_hash_of(record.questions, questions)) record.questions = sha256(questions);
    record.question = engine::first_question(questions);
    apply(record, *written);
    if ((written->unsettled || written->waiting) && syncing_soon_.insert(record.task.id).second) {
        const auto time = written->unsettled ? k_late_writer : world_.task_files.keeps_displaced();
        async::spawn(world_.executor, "late writer", sync_after(time, record.task.id));
    }
    synced.body = std::move(written->body);
    synced.unread = std::move(written->unread);
    co_return synced;
}

Awaitable<void> Turns::show(TaskRecord& record, Outcome* told) {
    const auto synced = co_await sync_bodies(record);
    if (synced) co_return;
    if (told) told->notes.push_back("TASK.md does not show it yet: " + synced.error().message);
    log::warn("runner", synced.error().message, {{"task", record.task.id.value}});
}

Awaitable<void> Turns::body_changed(TaskId id) {
    auto turn = co_await begin_turn(id);
    if (turn) co_await show(turn->record);
}

Awaitable<Result<void>> Turns::retire_mirror(TaskRecord& record) {
    const auto copies = with_sections(copies_of(world_, record), definition_of(record.task));
    if (!copies.mirror) co_return Result<void>{};
    CO_TRY(const auto retired, co_await world_.task_files.retire_mirror(record, copies));
    apply(record, retired);
    co_return Result<void>{};
}

void Turns::apply(TaskRecord& record, const store::Synced& synced) {
    for (const auto& event : synced.events) world_.journal.write(record, event);
    if (synced.attention) raise(world_, record, NoticeKind::task_file_conflict, *synced.attention);
    if (synced.unread.empty()) {
        clear(record, NoticeKind::task_file_unread);
    } else if (!engine::find_notice(record, NoticeKind::task_file_unread)) {
        raise(world_, record, NoticeKind::task_file_unread, synced.unread);
    }
    if (synced.extra_frontmatter) record.task.extra_frontmatter = *synced.extra_frontmatter;
    record.body_hash = synced.body_hash;
    if (const auto known = world_.tasks.read(record.task.id); known && **known == record) return;
    save(record, synced.attention || synced.extra_frontmatter ? Durability::synced : Durability::atomic);
}

Result<void> Turns::try_save(const TaskRecord& record, Durability durability) {
    return world_.tasks.save(record, durability);
}

bool Turns::save(const TaskRecord& record, Durability durability) {
    const auto saved = try_save(record, durability);
    if (!saved) log::error("runner", saved.error().message, {{"task", record.task.id.value}});
    return saved.has_value();
}

void keep_time(const World& world, const Turns& turns, TaskRecord& record) {
    const auto definition = turns.definition_of(record.task);
    if (definition) engine::keep_time(record, **definition, world.clock.now());
}

Awaitable<void> Turns::sync_after(std::chrono::milliseconds time, TaskId id) {
    co_await async::sleep(time);
    syncing_soon_.erase(id);
    co_await body_changed(id);
}

}  // namespace orange
