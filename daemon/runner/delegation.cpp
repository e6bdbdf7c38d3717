#include "daemon/runner/delegation.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/children.hpp"
#include "daemon/runner/notices.hpp"

namespace orange {
namespace {

/// Of a start_failed that nobody has to do anything about: it is tried again.
constexpr const char* k_tried_again = "sub-tasks";

std::string ids_text(const std::vector<TaskId>& ids) {
    std::vector<std::string> texts;
    for (const auto& id : ids) texts.push_back(id.value);
    return join(texts, " ");
}

}  // namespace

Delegation::Delegation(World& world, Turns& turns, Transitions& transitions, Queue& queue)
    : world_(world), turns_(turns), transitions_(transitions), queue_(queue) {
    observer_ = world_.tasks.observe([this](const TaskId& id) { changed(id); });
}

Delegation::~Delegation() {
    world_.tasks.unobserve(observer_);
}

/// Costs nothing for a task that is no part of another one, and has no parts.
void Delegation::changed(const TaskId& id) {
    const auto* record = world_.tasks.find(id);
    if (!record) {
        seen_.erase(id);
        return;
    }
    if (!record->task.parent.empty()) settle_soon(record->task.parent);
    settle_soon(id);
}

void Delegation::look_at_all() {
    for (const auto& id : world_.tasks.parents()) {
        const auto* record = world_.tasks.find(id);
        const bool is_over = record && store::has_ended(*record) && record->notices.empty();
        if (!is_over) settle_soon(id);
    }
    const auto active = world_.tasks.active();
    for (const auto& id : active) settle_soon(id);  // its sub-tasks may be deleted, or unreadable
}

/// All that settle() goes by: if it is as it was, there is nothing to do.
std::string Delegation::seen_of(const TaskRecord& record) const {
    auto text = record.task.status + (record.intent ? " intent" : "") + (record.queued ? " queued" : "");
    if (engine::find_notice(record, NoticeKind::start_failed)) text += " failed";
    if (record.merge && record.merge->unfinished()) text += " merging";
    for (const auto& child : children_of(world_, record)) {
        text += " " + child.id.value + " " + std::to_string(static_cast<int>(child.state)) +
                (child.unapproved ? " unapproved" : "");
    }
    return text;
}

void Delegation::settle_soon(const TaskId& id) {
    const auto* record = world_.tasks.find(id);
    if (!record) return;
    const bool has_children = !children_of(world_, *record).empty();
    const auto seen = seen_.find(id);
    if (!has_children && seen == seen_.end()) return;
    if (seen != seen_.end() && seen->second == seen_of(*record)) return;
    settle_once(id);
}

void Delegation::settle_once(const TaskId& id) {
    if (soon_.insert(id).second) async::spawn(world_.executor, "delegation", settle(id));
}

void Delegation::retry() {
    for (const auto& id : std::exchange(left_, {})) settle_once(id);
}

/// What was done is told before it is written, since nobody looks at it afterwards.
bool Delegation::note_done(TaskRecord& record, const engine::Children& children) {
    for (const auto& child : children) {
        if (child.state != engine::ChildState::done || record.children_done.contains(child.id)) continue;
        if (!world_.journal.write_once(record, "child.done", {{"child", child.id.value}})) return false;
        record.children_done.insert(child.id);
    }
    return true;
}

/// The history says of which sub-tasks it is told: who has acknowledged that is not told again.
bool Delegation::is_news(const History& history, const std::string& type, const std::string& children) {
    if (!history) return true;
    const auto last =
        std::find_if(history->rbegin(), history->rend(), [&](const HistoryEvent& event) { return event.type == type; });
    if (last == history->rend()) return !children.empty();
    const auto told = last->fields.find("children");
    return told == last->fields.end() || told->second != Scalar{children};
}

bool Delegation::tell_unapproved(TaskRecord& record, const History& history, const engine::Children& children) {
    std::vector<TaskId> waiting;
    for (const auto& child : children) {
        if (child.unapproved) waiting.push_back(child.id);
    }
    if (waiting.empty()) (void)clear(record, NoticeKind::children_unapproved);
    if (!is_news(history, "children.unapproved", ids_text(waiting))) return false;
    if (!waiting.empty()) {
        raise(world_, record, NoticeKind::children_unapproved, engine::unapproved_text(waiting.size()),
              "orange task approve " + record.task.id.value);
    }
    return true;
}

/// A notice that stands says what is so now, also where nobody has to be told anew.
bool Delegation::tell_trouble(TaskRecord& record, const History& history, const engine::Definition& definition,
                              const engine::Children& children) {
    const auto trouble = engine::trouble_of(definition, record.task, children);
    if (!trouble) (void)clear(record, NoticeKind::child_needs_you);
    const bool news = is_news(history, "children.trouble", trouble ? ids_text(trouble->with) : "");
    if (trouble && (news || engine::find_notice(record, NoticeKind::child_needs_you))) {
        raise(world_, record, NoticeKind::child_needs_you, trouble->text, trouble->command);
    }
    return news;
}

/// Each step is repeated after a crash, and recognized.
Awaitable<void> Delegation::settle(TaskId id) {
    auto turn = co_await turns_.begin_turn(id);
    soon_.erase(id);                              // before looking: what comes while we look is looked at again
    if (!turn || turn->record.intent) co_return;  // the end of that leads here again
    auto& record = turn->record;
    const auto definition = turns_.definition_of(record.task);
    if (!definition) co_return;
    const auto before = record;
    const auto history = world_.tasks.history(id);
    const auto children = children_of(world_, record);
    seen_[id] = seen_of(record);
    const bool noted = note_done(record, children);
    const bool unapproved = tell_unapproved(record, history, children);
    const bool trouble = tell_trouble(record, history, **definition, children);
    if (!noted || (record != before && !turns_.save(record))) {
        left_.insert(id);
        co_return;
    }
    const auto told = engine::trouble_of(**definition, record.task, children);
    if (unapproved) {
        std::vector<TaskId> waiting;
        for (const auto& child : children) {
            if (child.unapproved) waiting.push_back(child.id);
        }
        world_.journal.write(record, "children.unapproved", {{"children", ids_text(waiting)}});
    }
    if (trouble) {
        world_.journal.write(record, "children.trouble", {{"children", told ? ids_text(told->with) : std::string()}});
    }
    if (record != before) co_await turns_.show(record);
    co_await go_on(*turn, **definition, children);
}

void Delegation::hindered(TaskRecord& record, const Error& why, bool tries_again) {
    log::warn("runner", why.message, {{"task", record.task.id.value}});
    const auto& id = record.task.id.value;
    raise(world_, record, NoticeKind::start_failed,
          "all sub-tasks are done, and the task could not go on: " + why.message +
              (tries_again ? "; Orange tries again" : "; then run `orange task ack " + id + "`"),
          tries_again ? "orange task why " + id : "orange task ack " + id, tries_again ? k_tried_again : "");
    turns_.save(record);
}

Awaitable<void> Delegation::go_on(TaskTurn& turn, const engine::Definition& definition,
                                  const engine::Children& children) {
    auto& record = turn.record;
    const auto id = record.task.id;
    if (record.merge && record.merge->unfinished()) co_return;  // it ends the task, or its end leads here again
    const auto* failed = engine::find_notice(record, NoticeKind::start_failed);
    if (!engine::have_come_back(definition, record.task, children)) {
        const auto before = record;
        const auto* state = definition.state(record.task.status);
        if (state && state->children) record.queued = false;  // another one was created meanwhile
        if (failed && failed->cause == k_tried_again) (void)clear(record, NoticeKind::start_failed);
        if (record != before && !turns_.save(record)) left_.insert(id);
        co_return;
    }
    if (record.queued || (failed && failed->cause != k_tried_again)) co_return;
    const auto outcome = co_await decide_after_children(world_, turns_, record);
    if (!outcome) {
        left_.insert(id);
        hindered(record, outcome.error(), true);
        co_return;
    }
    if (wants_workspace(record, *outcome)) {
        if (failed) (void)clear(record, NoticeKind::start_failed);  // the queue says what it waits for
        queue_.enqueue(record);
        if (!turns_.save(record)) left_.insert(id);
        queue_.kick(record.task.project);
        co_return;
    }
    const auto moved = co_await move_after_children(world_, turns_, transitions_, record);
    if (moved) co_return;
    const bool writing = moved.error().code == ErrorCode::io;
    if (writing) left_.insert(id);
    auto now = turns_.record_of(id);
    if (now && !now->intent) hindered(*now, moved.error(), writing);
}

Awaitable<Result<void>> Delegation::settle_parent_of(TaskId id) {
    const auto* child = world_.tasks.find(id);
    if (!child || child->task.parent.empty()) co_return Result<void>{};
    const auto parent = child->task.parent;
    const auto open = [&] {
        const auto* record = world_.tasks.find(parent);
        return record && !record->children_done.contains(id) &&
               std::ranges::any_of(children_of(world_, *record), [&](const engine::Child& each) {
                   return each.id == id && each.state == engine::ChildState::done;
               });
    };
    if (open()) co_await settle(parent);
    if (!open()) co_return Result<void>{};
    co_return Error(ErrorCode::io, "task " + id.value + " is a part of task " + parent.value +
                                       ", and that it is done could not be written there; see orange.log");
}

void Delegation::child_is_gone(const TaskId& parent) {
    settle_soon(parent);
}

Awaitable<Result<void>> Delegation::approve_one(TaskId id, Caller by) {
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

Awaitable<Result<Outcome>> Delegation::approve(TaskId id, Caller by) {
    CO_TRY(const auto record, turns_.record_of(id));
    std::vector<TaskId> waiting;
    if (record.unapproved) waiting.push_back(id);
    for (const auto& child : children_of(world_, record)) {
        if (child.unapproved) waiting.push_back(child.id);
    }
    Outcome outcome;
    if (waiting.empty()) outcome.notes = {"there was nothing to approve"};
    for (const auto& each : waiting) CO_TRY(co_await approve_one(each, by));
    co_await queue_.run(record.task.project);
    for (const auto& each : waiting) {
        const auto now = turns_.record_of(each);
        if (!now) continue;
        auto text = "approved " + each.value + ": " + printable(now->task.summary);
        if (now->queued) text += "; " + queue_.waits(*now);
        outcome.notes.push_back(std::move(text));
    }
    co_return outcome;
}

}  // namespace orange
