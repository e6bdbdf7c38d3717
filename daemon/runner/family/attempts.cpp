#include "daemon/runner/family/attempts.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/git/branch_names.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/family/family.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/store/task_folder.hpp"
#include "daemon/store/task_texts.hpp"

namespace orange {
namespace {

constexpr std::string_view k_own_branches = "orange-tasks/";

/// Returns the record of the parent of an attempt, as long as that has not ended.
store::RecordPtr open_parent(const World& world, const TaskRecord& record) {
    if (record.attempt.empty()) return nullptr;
    auto parent = world.tasks.awake(record.task.parent);
    return parent && !store::has_ended(*parent) ? parent : nullptr;
}

/// Returns the record of a task above that has attempts. One that has ended counts, too.
store::RecordPtr parent_with_attempts(const World& world, const TaskId& id) {
    const auto parent = id.empty() || !world.tasks.brief(id) ? nullptr : world.tasks.read(id).value_or(nullptr);
    return parent && !parent->attempts.empty() ? parent : nullptr;
}

Error not_picked(const TaskRecord& record, const TaskRecord& parent) {
    const auto& id = record.task.id.value;
    const auto& above = parent.task.id.value;
    return {ErrorCode::conflict,
            "task " + id + " is the attempt " + record.attempt +
                ", and you have not picked one. With the pick the other attempts are cancelled, and their work is "
                "kept. To compare them:\n  orange compare " +
                above + "\nTo pick this one:\n  orange pick " + above + " " + id,
            {{"why", k_not_picked}, {"parent", above}, {"attempt", id}}};
}

/// Makes the error for a merge while it is not known which attempt was picked.
Error parent_unreadable(const TaskRecord& record) {
    return {ErrorCode::conflict, "the files of task " + record.task.parent.value + ", of which this is the attempt " +
                                     record.attempt + ", cannot be read. To see what is wrong with them:\n  " +
                                     OrangeCommand{"doctor"}.text()};
}

Error none_picked(const TaskRecord& parent) {
    const auto& id = parent.task.id.value;
    return {ErrorCode::conflict,
            "several agents try task " + id +
                ", and you have not picked one of the attempts. To compare them:\n  orange compare " + id +
                "\nTo pick one:\n  orange pick " + id + " ATTEMPT",
            {{"why", k_not_picked}, {"parent", id}}};
}

Error other_picked(const TaskRecord& parent, const TaskId& attempt) {
    const auto* picked = parent.attempt_of(parent.picked);
    return {ErrorCode::conflict, "you have picked another attempt of task " + parent.task.id.value + ": " +
                                     (picked ? picked->name + ", " : std::string()) + parent.picked.value +
                                     ". This one is cancelled, and its work is kept. To go on with it in a new "
                                     "task:\n  orange task restore " +
                                     attempt.value + " --create"};
}

/// Returns the branch of an attempt. If its parent's has a name that was chosen, the attempt's has that and its own.
Awaitable<Result<std::string>> branch_of(World& world, const TaskRecord& parent, AttemptRow row) {
    const auto usual = std::string(k_own_branches) + row.id.value;
    if (parent.task.branch.starts_with(k_own_branches)) co_return usual;
    CO_TRY(const auto project, registered_project(world, parent.task.project));
    auto wanted = parent.task.branch + "-" + git::branch_name_from(row.name);
    const auto repository = project.path;
    CO_TRY(const auto state, co_await git::branch_state(world.git, repository, wanted));
    const bool is_free = !state.exists() && state.clash.empty() && !world.tasks.on_branch(project.name, wanted);
    if (!is_free) co_return usual;
    co_return wanted;
}

/// Returns a new task that tries what its parent says. Nothing in it names the others.
TaskRecord record_for(const World& world, const TaskRecord& parent, const engine::Definition& definition,
                      const AttemptRow& row) {
    TaskRecord made;
    auto& task = made.task = parent.task;
    task.id = row.id;
    task.parent = parent.task.id;
    task.status = definition.initial().name;
    task.harness = row.harness;
    task.effort = row.effort;
    task.model = row.model;
    task.review_harness = row.review_harness;
    task.review_effort = row.review_effort;
    task.review_model = row.review_model;
    task.counters.clear();
    task.budget.clear();  // the parent's counts for all of them
    task.workspace.reset();
    task.tmux_session.reset();
    task.pr_url.reset();
    task.attention.reset();
    task.created_at = task.updated_at = world.clock.now();
    made.attempt = row.name;
    made.into_parent = parent.into_parent;
    made.stacked_on = parent.stacked_on;
    made.blockers_done = parent.blockers_done;
    made.harness_hashes = parent.harness_hashes;  // what its human has seen of the definitions
    return made;
}

std::string with_places(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

/// Copies a file in pieces, with everybody's turn in between: it may have hundreds of MiB.
Awaitable<Result<void>> copy_file(FileSystem& files, Path from, Path to) {
    constexpr std::size_t k_piece = std::size_t{1} << 20;
    CO_TRY(files.replace(to, ""));
    for (std::uintmax_t at = 0;;) {
        CO_TRY(const auto piece, files.read_beneath(from.parent_path(), from.filename(), at, k_piece));
        if (piece.bytes.empty()) co_return Result<void>{};
        CO_TRY(files.append(to, piece.bytes));
        at += piece.bytes.size();
        co_await async::yield();
    }
}

/// Copies the files that were given to the parent, and returns `body` with their new places.
Awaitable<Result<std::string>> take_files(World& world, const TaskRecord& parent, const TaskRecord& made,
                                          std::string body) {
    const Path from = world.tasks.folder(parent) / store::k_files, to = world.tasks.folder(made) / store::k_files;
    CO_TRY(const auto names, world.files.list(from));
    for (const auto& name : names) CO_TRY(co_await copy_file(world.files, from / name, to / name));
    if (names.empty()) co_return body;
    const auto& env = world.base_environment;
    co_return with_places(std::move(body), agents::in_real_home(from.string(), env),
                          agents::in_real_home(to.string(), env));
}

Awaitable<Result<void>> make_attempt(Runner& runner, const TaskRecord& parent, const engine::Definition& definition,
                                     AttemptRow row) {
    auto& world = runner.world;
    auto made = record_for(world, parent, definition, row);
    CO_TRY(made.task.branch, co_await branch_of(world, parent, row));
    CO_TRY(auto body, store::read_body(world.files, world.tasks.folder(parent) / store::k_task));
    CO_TRY(body, co_await take_files(world, parent, made, std::move(body)));
    co_return runner.creation.write_queued(std::move(made), std::move(body));
}

/// Marks the attempt, and everything below it belongs to it.
Awaitable<Result<void>> mark_unpicked(Runner& runner, TaskId id) {
    CO_TRY(auto turn, co_await runner.turns.begin_turn(id));
    if (turn.record.attempt.empty() || turn.record.unpicked) co_return Result<void>{};
    turn.record.unpicked = true;
    co_return runner.turns.try_save(turn.record);
}

/// Returns who has picked, as the caller of the cancels that follow.
Caller picker(const World& world, const TaskRecord& record) {
    for (auto id = record.task.parent; !id.empty();) {
        const auto above = world.tasks.read(id).value_or(nullptr);
        if (!above) break;
        if (above->picked_by) return *above->picked_by;
        id = above->task.parent;
    }
    Caller human;
    human.evidence = "another attempt was picked";
    return human;
}

engine::Request to_cancelled() {
    engine::Request request;
    request.goal = engine::Goal::cancelled;
    return request;
}

Awaitable<std::vector<std::string>> end_one(Runner& runner, TaskId id, Caller by) {
    std::vector<std::string> notes;
    if (const auto* task = runner.world.tasks.brief(id); task && !task->ended) {
        // A pick waits neither for a setup command, which holds the task's lock, nor for checks.
        runner.world.pool.stop_acquire(id);
        runner.checks.stop(id);
    }
    const auto marked = co_await mark_unpicked(runner, id);
    const auto* brief = runner.world.tasks.brief(id);
    if (!brief) co_return notes;
    Result<Outcome> ended = Outcome{};
    if (!brief->ended) {
        const auto request = to_cancelled();
        Edit nothing;
        ended = co_await runner.requests.move(id, request, std::move(by), std::move(nothing));
    }
    const auto record = runner.world.tasks.read(id).value_or(nullptr);
    if (!record) co_return notes;
    const auto name = record->attempt.empty() ? "sub-task" : "attempt " + record->attempt;
    if (!store::has_ended(*record)) {
        const auto why = ended ? std::string() : ": " + std::string(first_line(ended.error().message));
        notes.push_back(name + ", " + id.value + ", is not cancelled yet" + why + "; Orange tries again");
        co_return notes;
    }
    notes.push_back("cancelled " + name + ", " + id.value);
    const auto kept = co_await kept_work(runner.world, *record);
    notes.insert(notes.end(), kept.begin(), kept.end());
    if (!marked) log::warn("runner", marked.error().message, {{"task", id.value}});
    co_return notes;
}

/// Says why the attempt cannot be picked any more.
Result<void> check_is_there(const World& world, const TaskId& attempt) {
    const auto record = world.tasks.read(attempt).value_or(nullptr);
    if (!record) return {ErrorCode::conflict, "attempt " + attempt.value + " is deleted, or its files cannot be read"};
    if (blocker_state(world, attempt) != BlockerState::gone) return {};
    return {ErrorCode::conflict, "attempt " + attempt.value + " has ended with the status " + record->task.status +
                                     " and cannot be picked. To go on with its work in a new task:\n  orange task "
                                     "restore " +
                                     attempt.value + " --create"};
}

/// Says which other attempt is done already, because somebody has merged it elsewhere.
Result<void> check_none_is_merged(const World& world, const TaskRecord& parent, const TaskId& attempt) {
    const auto& id = parent.task.id.value;
    for (const auto& row : parent.attempts) {
        const bool is_done =
            parent.children_done.contains(row.id) || blocker_state(world, row.id) == BlockerState::done;
        if (!is_done || row.id == attempt) continue;
        return {ErrorCode::conflict, "its attempt " + row.name + " is done already. To pick that one:\n  orange pick " +
                                         id + " " + row.id.value +
                                         "\nTo merge others, too, give up the task; its attempts are then tasks of "
                                         "their own:\n  orange task cancel " +
                                         id};
    }
    return {};
}

}  // namespace

bool is_unreadable(const World& world, const TaskId& id) {
    return std::ranges::find(world.tasks.unreadable(), id.value, &store::Unreadable::id) !=
           world.tasks.unreadable().end();
}

TaskId task_above(const World& world, const TaskRecord& record) {
    if (record.attempt.empty()) return record.task.parent;
    const auto* parent = world.tasks.brief(record.task.parent);
    return parent ? parent->parent : TaskId{};
}

bool waits_for_pick(const World& world, const TaskRecord& record) {
    const auto parent = open_parent(world, record);
    return parent && parent->picked.empty();
}

bool is_unpicked(const World& world, const TaskRecord& record) {
    if (record.unpicked) return true;
    auto id = record.task.id;
    for (auto above = record.task.parent; !above.empty();) {
        const auto* brief = world.tasks.brief(above);
        if (!brief) return false;
        // A pick also holds if its task was given up right after it. No file is read for a task that has ended itself.
        const auto parent =
            store::has_ended(record) ? world.tasks.awake(above) : world.tasks.read(above).value_or(nullptr);
        const bool decided = parent && !parent->picked.empty() && parent->attempt_of(id) != nullptr;
        if (decided && parent->picked != id) return true;
        if (parent && parent->unpicked) return true;
        id = above;
        above = brief->parent;
    }
    return false;
}

Result<void> check_picked(const World& world, const TaskRecord& record) {
    if (!record.attempts.empty() && !store::has_ended(record)) return none_picked(record);
    if (!record.attempt.empty() && is_unreadable(world, record.task.parent)) return parent_unreadable(record);
    const auto parent = open_parent(world, record);
    if (!parent || parent->picked == record.task.id) return {};
    if (parent->picked.empty()) return not_picked(record, *parent);
    return other_picked(*parent, record.task.id);
}

Result<TaskId> picked_instead(const World& world, const TaskId& id) {
    const auto record = parent_with_attempts(world, id);
    if (!record) return id;
    if (!record->picked.empty()) return record->picked;
    if (store::has_ended(*record)) return id;
    return none_picked(*record);
}

Result<TaskId> attempt_named(const World& world, const TaskRecord& parent, const std::string& name) {
    const auto wanted = std::string(trim(name));
    std::vector<std::string> names;
    for (const auto& row : parent.attempts) {
        if (row.name == wanted) return row.id;
        names.push_back(row.name);
    }
    const auto id = world.tasks.resolve(wanted, store::Naming::id_or_branch);
    if (id && parent.attempt_of(*id) != nullptr) return *id;
    const auto& above = parent.task.id.value;
    if (names.empty()) {
        return Error(ErrorCode::conflict, "only one agent works at task " + above + ", so there is nothing to pick");
    }
    return Error(ErrorCode::not_found, "task " + above + " has no attempt \"" + printable(wanted) +
                                           "\"; its attempts are " + join(names, ", ") +
                                           ". To look at them:\n  orange compare " + above);
}

Awaitable<Result<void>> note_pick(Runner& runner, TaskId parent, TaskId attempt, Caller by) {
    CO_TRY(auto turn, co_await runner.transitions.begin_turn(parent));
    auto& record = turn.record;
    if (record.picked == attempt) co_return Result<void>{};
    if (!record.picked.empty()) co_return other_picked(record, attempt);
    if (store::has_ended(record)) {
        co_return Error(ErrorCode::conflict, "task " + parent.value + " has ended with the status " +
                                                 record.task.status + ", and nothing is picked any more");
    }
    const auto* row = record.attempt_of(attempt);
    if (row == nullptr || !row->made) {
        co_return Error(ErrorCode::conflict, "task " + parent.value +
                                                 " has not started, so there is nothing to pick. To start it:\n  "
                                                 "orange task spawn " +
                                                 parent.value);
    }
    CO_TRY(check_is_there(runner.world, attempt));
    CO_TRY(check_none_is_merged(runner.world, record, attempt));
    const auto name = row->name;
    record.picked = attempt;
    record.picked_by = by;
    record.task.updated_at = runner.world.clock.now();
    CO_TRY(runner.turns.try_save(record));
    runner.world.journal.write(record, "attempt.picked",
                               {{"attempt", attempt.value}, {"name", name}, {"by", name_text(by.role)}});
    co_await runner.turns.show(record);
    co_return Result<void>{};
}

Awaitable<std::vector<std::string>> end_unpicked_of(Runner& runner, TaskId parent) {
    std::vector<std::string> notes;
    const auto record = runner.world.tasks.read(parent).value_or(nullptr);
    if (!record || record->picked.empty()) co_return notes;
    const auto by = record->picked_by.value_or(Caller{});
    std::vector<TaskId> all;
    for (const auto& row : record->attempts) {
        if (row.id == record->picked || !runner.world.tasks.brief(row.id)) continue;
        if (runner.world.tasks.brief(row.id)->ended) {
            (void)co_await mark_unpicked(runner, row.id);
            continue;
        }
        all.push_back(row.id);
        for (auto& below : open_below(runner.world, row.id)) all.push_back(std::move(below));
    }
    for (const auto& id : all) {
        auto said = co_await end_one(runner, id, by);
        notes.insert(notes.end(), said.begin(), said.end());
    }
    runner.queue.schedule(record->task.project);
    co_return notes;
}

Awaitable<Result<void>> make_attempts(Runner& runner, TaskRecord& record) {
    CO_TRY(const auto definition, runner.turns.definition_of(record.task));
    for (auto& row : record.attempts) {
        if (row.made) continue;
        if (const auto there = runner.world.tasks.awake(row.id)) {  // a killed daemon may not have told of it
            CO_TRY(runner.creation.tell_created(*there));
        } else if (!runner.world.tasks.brief(row.id)) {
            CO_TRY(co_await make_attempt(runner, record, *definition, row));
        }
        row.made = true;  // saved at once: an attempt that is deleted later is not made again
        record.task.updated_at = runner.world.clock.now();
        CO_TRY(runner.turns.try_save(record));
    }
    runner.queue.schedule(record.task.project);
    co_return Result<void>{};
}

Awaitable<Result<void>> end_unpicked(Runner& runner, TaskRecord& record) {
    if (!record.attempt.empty() && !record.unpicked) {
        record.unpicked = true;
        CO_TRY(runner.turns.try_save(record));
    }
    runner.checks.stop(record.task.id);
    const auto by = picker(runner.world, record);
    const auto request = to_cancelled();
    const Edit nothing;
    CO_TRY(co_await runner.transitions.request(record, request, by, nothing));
    runner.queue.schedule(record.task.project);
    co_return Result<void>{};
}

}  // namespace orange
