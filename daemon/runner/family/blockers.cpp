#include "daemon/runner/family/family.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/engine/blocking.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {
namespace {

constexpr std::size_t k_most_blockers = 100;

std::string text_of(const World& world, const std::vector<TaskId>& ids) {
    std::vector<std::string> names;
    for (const auto& id : ids) names.push_back(world.tasks.short_id(id));
    return join(names, ",");
}

Error has_begun(const Task& task) {
    return {ErrorCode::conflict, "task " + task.id.value + " has the status " + task.status +
                                     " and has already started; only a task that has not can wait for others"};
}

Result<void> check_is_initial(const World& world, const TaskRecord& record) {
    TRY(const auto definition, world.workflows.pinned(record.task.workflow, record.task.workflow_hash));
    return record.task.status == definition->initial().name ? Result<void>{} : has_begun(record.task);
}

/// Returns the element of `all` that a person means with this name.
Result<TaskId> one_of(const World& world, const std::vector<TaskId>& all, const std::string& name) {
    std::vector<TaskId> found;
    for (const auto& id : all) {
        if (id.value == name) return id;
        if (name.size() >= 2 && to_lower(id.value).starts_with(to_lower(name))) found.push_back(id);
    }
    if (found.size() == 1) return found.front();
    TRY(auto id, world.tasks.resolve(name, store::Naming::id_or_branch));
    if (std::ranges::find(all, id) != all.end()) return id;
    return Error(ErrorCode::invalid_argument, "it does not wait for task " + id.value);
}

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

BlockerState blocker_state(const World& world, const TaskId& id) {
    const auto* task = world.tasks.brief(id);
    if (!task) return BlockerState::gone;
    if (!task->ended || task->unfinished) return BlockerState::open;
    const auto definition = world.workflows.pinned(task->workflow, task->workflow_hash);
    const bool done =
        definition ? (*definition)->means(task->status.text(), engine::Meaning::done) : task->status.text() == "done";
    return done ? BlockerState::done : BlockerState::gone;
}

std::string fate_of(const World& world, const TaskId& id) {
    if (const auto* task = world.tasks.brief(id)) return "has ended with the status " + task->status.text();
    const auto is_it = [&](const store::Unreadable& each) { return each.id == id.value; };
    return std::ranges::any_of(world.tasks.unreadable(), is_it) ? "cannot be read (orange doctor)" : "is deleted";
}

std::vector<engine::Blocker> blockers_of(const World& world, const TaskRecord& record) {
    std::vector<engine::Blocker> blockers;
    for (const auto& id : record.waits_for()) {
        engine::Blocker blocker{id, blocker_state(world, id), world.tasks.short_id(id)};
        // The one that it is built on only has to be reviewed.
        const auto below = id == record.task.on ? below_of(world, record) : std::nullopt;
        if (below && below->state == engine::Below::State::reviewed) blocker.state = BlockerState::done;
        blocker.fate = fate_of(world, id);
        blockers.push_back(std::move(blocker));
    }
    return blockers;
}

Result<void> check_cycle(const World& world, const TaskRecord& record) {
    // A parent also waits for its sub-tasks.
    const auto blockers_of = [&](const TaskId& id) {
        const auto task = world.tasks.awake(id);
        if (!task || store::has_ended(*task)) return std::vector<TaskId>();
        auto all = task->waits_for();
        for (const auto& child : world.tasks.children_of(id)) all.push_back(child);
        if (id == record.task.parent) all.push_back(record.task.id);
        return all;
    };
    const auto way = engine::cycle_through(record.task.id, record.waits_for(), blockers_of);
    if (way.empty()) return {};
    std::vector<std::string> names;
    for (const auto& id : way) names.push_back(id.value);
    Error error(ErrorCode::conflict, "the tasks would wait for each other: " + join(names, " → "));
    error.details["cycle"] = join(names, " ");
    return error;
}

Result<void> add_blockers(const World& world, TaskRecord& record, const std::vector<std::string>& names) {
    if (names.empty()) return {};
    TRY(check_is_initial(world, record));
    auto& all = record.task.blocked_by;
    for (const auto& name : names) {
        TRY(auto id, world.tasks.resolve(name, store::Naming::id_or_branch));
        if (id == record.task.id) {
            return {ErrorCode::conflict, "task " + id.value + " cannot wait for itself"};
        }
        if (id == record.task.on) {
            return {ErrorCode::conflict, "task " + record.task.id.value + " is built on task " + id.value +
                                             ", and waits only for its review"};
        }
        const auto state = blocker_state(world, id);
        if (state == BlockerState::gone) {
            return {ErrorCode::conflict, "task " + id.value + " has the status " +
                                             world.tasks.brief(id)->status.text() + " and will never be done"};
        }
        if (std::ranges::find(all, id) == all.end()) all.push_back(id);
        if (state == BlockerState::done) record.blockers_done.insert(id);
    }
    if (all.size() > k_most_blockers) {
        return {ErrorCode::invalid_argument,
                "a task can wait for at most " + std::to_string(k_most_blockers) + " others"};
    }
    return check_cycle(world, record);
}

Result<void> drop_blockers(const World& world, TaskRecord& record, const std::vector<std::string>& names) {
    for (const auto& name : names) {
        auto all = record.task.blocked_by;
        if (!record.task.on.empty()) all.push_back(record.task.on);
        TRY(auto id, one_of(world, all, name));
        if (id == record.task.on) {
            build_on_none(record);
            continue;
        }
        std::erase(record.task.blocked_by, id);
        record.blockers_done.erase(id);
    }
    return {};
}

std::string waits_text(const World& world, const TaskRecord& record) {
    return text_of(world, record.waits_for());
}

std::string waits_shown(const World& world, const TaskRecord& record) {
    auto ids = record.waits_for();
    const bool is_on = std::erase(ids, record.task.on) > 0;
    const auto others = text_of(world, ids);
    if (!is_on) return others;
    return (others.empty() ? "" : others + ", and for ") + world.tasks.short_id(record.task.on) + " to be in review";
}

std::string gone_text(const World& world, const TaskRecord& record) {
    auto ids = record.waits_for();
    std::erase_if(ids, [&](const TaskId& id) { return blocker_state(world, id) != BlockerState::gone; });
    return text_of(world, ids);
}

std::string waits_sentence(const World& world, const TaskRecord& record) {
    const auto& id = record.task.id.value;
    const auto names = waits_text(world, record), gone = gone_text(world, record);
    auto text = "task " + id + " waits for " + (gone.empty() ? waits_shown(world, record) : names);
    if (!gone.empty()) {
        text += (gone == names ? ", which" : "; " + gone) + " will never be done";
    } else if (record.queued) {
        const bool one = record.waits_for().size() == 1;
        const bool is_on = one && record.waits_for().front() == record.task.on;
        text += is_on ? " and starts by itself then"
                : one ? " and starts by itself when that is done"
                      : " and starts by itself when they are done";
    }
    return text + ". To start it without:\n  orange task update " + id + " --unblock " + (gone.empty() ? names : gone);
}

Awaitable<Result<void>> note_blockers(Runner& runner, TaskRecord& record, engine::step::NoteBlockers ended) {
    auto& world = runner.world;
    for (const auto& id : ended.done) {
        const bool is_done = blocker_state(world, id) == BlockerState::done;  // else it is built on that one
        if (is_done) CO_TRY(world.journal.write_once(record, "blocker.done", {{"blocker", id.value}}));
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
