#include "daemon/runner/family/attempts.hpp"
#include "daemon/runner/family/family.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/notice_kinds.hpp"
#include "daemon/engine/decide.hpp"
#include "daemon/engine/start.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

Error over_limit(const Project& project, const std::string& setting, int limit, std::string why) {
    return {ErrorCode::conflict, std::move(why) + ", and " + setting + " is " + std::to_string(limit) +
                                     ". A human can allow more:\n  orange project update " + project.name + " --set " +
                                     setting + "=" + std::to_string(limit + 1)};
}

/// Returns the depth of a sub-task of `parent`: 1 if the parent has no parent itself.
int depth_below(const World& world, const TaskRecord& parent) {
    int depth = 1;
    for (auto above = parent.task.parent; !above.empty(); ++depth) {
        const auto* task = world.tasks.brief(above);
        above = task ? task->parent : TaskId{};
    }
    return depth;
}

Result<void> check_limits(const World& world, const TaskRecord& parent) {
    TRY(const auto project, registered_project(world, parent.task.project));
    const auto settings = settings_of(world, project);
    const auto& id = parent.task.id.value;
    const auto most = *settings.delegation_children, deepest = *settings.delegation_depth;
    const auto there = children_of(world, parent).size();
    if (there >= static_cast<std::size_t>(most)) {
        return over_limit(project, "delegation_children", most,
                          "task " + id + " has " + counted(there, "sub-task") + " already");
    }
    if (depth_below(world, parent) > deepest) {
        return over_limit(project, "delegation_depth", deepest,
                          "task " + id + " is itself a sub-task, as deep as sub-tasks may go");
    }
    return {};
}

/// True if the sub-task is merged into its parent's branch, which is fixed when it is created. A parent that never
/// waits for its sub-tasks would not continue with their commits.
bool goes_into_parent(const World& world, const TaskRecord& parent) {
    const auto* project = world.projects.find(parent.task.project);
    if (!project || *settings_of(world, *project).children_into != "parent") return false;
    return !waiting_state(world, parent).empty();
}

engine::ChildState state_of(const World& world, const store::Brief& task) {
    switch (blocker_state(world, task.id)) {
        case BlockerState::done:
            return engine::ChildState::done;
        case BlockerState::gone:
            return engine::ChildState::ended;
        case BlockerState::open:
            break;
    }
    const auto definition = world.workflows.pinned(task.workflow, task.workflow_hash);
    const bool stuck = definition && (*definition)->means(task.status.text(), engine::Meaning::stuck);
    return stuck ? engine::ChildState::stuck : engine::ChildState::open;
}

/// True if nothing more comes of a task without its human: it has ended, needs help, or waits for a review.
bool rests(const World& world, const TaskId& id) {
    const auto record = world.tasks.awake(id);
    if (!record || store::has_ended(*record)) return true;
    if (record->intent || record->asked) return false;
    const auto& task = record->task;
    const auto definition = world.workflows.pinned(task.workflow, task.workflow_hash);
    if (!definition) return true;
    if ((*definition)->means(task.status, engine::Meaning::stuck)) return true;
    const auto needs_help = [&](const Notice& notice) {
        const bool is_death = notice.kind == NoticeKind::agent_crashed || notice.kind == NoticeKind::agent_ended ||
                              notice.kind == NoticeKind::session_lost;
        const bool is_over = is_death && !record->runs.empty();  // an agent was started again
        return rule_of(notice.kind).help && !is_over;
    };
    if (std::ranges::any_of(record->notices, needs_help)) return true;
    return engine::can_be_merged_from(**definition, task.status);
}

/// Says what the sub-task is among the attempts of its parent.
void compare_with_others(const World& world, const TaskRecord& parent, engine::Child& child) {
    const auto* row = parent.attempt_of(child.id);
    if (row == nullptr) return;
    child.attempt = row->name;
    child.picked = parent.picked == child.id;
    child.unpicked = !parent.picked.empty() && !child.picked;
    child.made = row->made;
    child.rests = child.made && rests(world, child.id);
}

/// Returns the attempts that have no files: they are not made yet, or are deleted.
engine::Children attempts_without_files(const World& world, const TaskRecord& record) {
    engine::Children children;
    for (const auto& row : record.attempts) {
        if (world.tasks.brief(row.id) || record.children_done.contains(row.id)) continue;
        if (is_unreadable(world, row.id)) continue;
        engine::Child child{row.id, world.tasks.short_id(row.id)};
        child.deleted = row.made;
        child.state = row.made ? engine::ChildState::ended : engine::ChildState::open;
        children.push_back(std::move(child));
    }
    return children;
}

/// An attempt that was not picked counts until it has ended with all that is below it.
bool counts_no_more(const World& world, const engine::Child& child) {
    if (!child.unpicked || child.state == engine::ChildState::unreadable) return false;
    const auto* brief = world.tasks.brief(child.id);
    return !brief || (brief->ended && open_below(world, child.id).empty());
}

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

Result<void> check_attempts_allowed(const World& world, const Project& project, const TaskRecord& parent,
                                    std::size_t count) {
    const auto settings = settings_of(world, project);
    const auto most = *settings.delegation_children, deepest = *settings.delegation_depth;
    if (count > static_cast<std::size_t>(most)) {
        return over_limit(project, "delegation_children", most,
                          std::to_string(count) + " attempts are as many sub-tasks");
    }
    if (depth_below(world, parent) > deepest) {
        return over_limit(project, "delegation_depth", deepest,
                          "attempts are sub-tasks, and these would be sub-tasks of a sub-task");
    }
    return {};
}

engine::Children children_of(const World& world, const TaskRecord& record) {
    engine::Children children;
    for (const auto& id : record.children_done) {
        if (world.tasks.brief(id)) continue;
        engine::Child child{id, world.tasks.short_id(id)};
        child.state = engine::ChildState::done;
        child.deleted = true;
        children.push_back(std::move(child));
    }
    for (const auto& id : world.tasks.children_of(record.task.id)) {
        const auto& there = *world.tasks.brief(id);
        engine::Child child{id, world.tasks.short_id(id), there.status, there.summary};
        child.state = record.children_done.contains(id) ? engine::ChildState::done : state_of(world, there);
        child.unapproved = there.unapproved && child.state == engine::ChildState::open;
        children.push_back(std::move(child));
    }
    for (const auto& broken : world.tasks.unreadable()) {
        const TaskId id{broken.id};
        if (!broken.shown || broken.shown->parent != record.task.id || record.children_done.contains(id)) continue;
        engine::Child child{id, world.tasks.short_id(id), "unreadable", broken.shown->summary};
        child.state = engine::ChildState::unreadable;
        children.push_back(std::move(child));
    }
    if (record.attempts.empty()) return children;
    for (auto& child : attempts_without_files(world, record)) children.push_back(std::move(child));
    for (auto& child : children) {
        compare_with_others(world, record, child);
        const bool goes_on = child.unpicked && child.state != engine::ChildState::unreadable;
        if (goes_on) child.state = engine::ChildState::open;
    }
    std::erase_if(children, [&](const engine::Child& child) { return counts_no_more(world, child); });
    return children;
}

std::vector<TaskId> open_below(const World& world, const TaskId& id) {
    std::vector<TaskId> open;
    for (const auto& child : world.tasks.children_of(id)) {
        if (!world.tasks.brief(child)->ended) open.push_back(child);
        for (auto& below : open_below(world, child)) open.push_back(std::move(below));
    }
    return open;
}

Result<void> adopt(const World& world, TaskRecord& record, const TaskRecord& parent) {
    const auto& task = parent.task;
    const bool ends = parent.intent && [&] {
        const auto definition = world.workflows.pinned(task.workflow, task.workflow_hash);
        const auto* state = definition ? (*definition)->state(parent.intent->to) : nullptr;
        return state != nullptr && state->terminal;
    }();
    if (store::has_ended(parent) || ends) {
        return {ErrorCode::conflict,
                "task " + task.id.value + " has ended with the status " + task.status + " and cannot get a sub-task"};
    }
    if (!parent.attempts.empty()) {
        return {ErrorCode::conflict, "several agents try task " + task.id.value +
                                         ", each in a sub-task, and it gets no other sub-tasks. Create a task of its "
                                         "own: omit --parent"};
    }
    TRY(check_limits(world, parent));
    record.task.parent = task.id;
    record.into_parent = goes_into_parent(world, parent);
    return check_cycle(world, record);
}

Awaitable<Result<engine::ChildrenOutcome>> decide_after_children(Runner& runner, const TaskRecord& record) {
    CO_TRY(const auto definition, runner.turns.definition_of(record.task));
    engine::Facts facts;
    facts.children = children_of(runner.world, record);
    if (engine::have_come_back(*definition, record.task, facts.children)) {
        facts.own_work = false;  // of a task with attempts, whatever branch has got its name
        if (record.attempts.empty()) {
            CO_TRY(facts.own_work, co_await has_own_work(runner.world, record));
        }
        facts.children = children_of(runner.world, record);  // another sub-task may have been created meanwhile
    }
    const engine::Artifacts none;
    const engine::TransitionFacts given{record.task, none, record.entry_sections, facts};
    co_return engine::decide_children(*definition, given);
}

bool wants_workspace(const TaskRecord& record, const engine::ChildrenOutcome& outcome) {
    const auto* decision = std::get_if<engine::Decision>(&outcome);
    return decision != nullptr && !record.task.workspace && engine::needs_workspace(*decision);
}

Awaitable<Result<Outcome>> move_after_children(Runner& runner, TaskRecord record) {
    CO_TRY(auto outcome, co_await decide_after_children(runner, record));
    auto* decision = std::get_if<engine::Decision>(&outcome);
    if (decision == nullptr) {
        if (std::exchange(record.queued, false)) CO_TRY(runner.turns.try_save(record));
        co_return Outcome{};
    }
    CO_TRY(const auto definition, runner.turns.definition_of(record.task));
    CO_TRY(auto synced, co_await runner.turns.sync_bodies(record));
    const auto by = daemon_for("sub-tasks");
    co_return co_await runner.transitions.perform(std::move(record), definition, std::move(*decision),
                                                  std::move(synced), by);
}

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
