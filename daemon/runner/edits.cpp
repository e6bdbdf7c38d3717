#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/runner/synced.hpp"

/// What may be changed of a task outside transitions. Everything is checked before anything is done; the branch, whose
/// change git may refuse, goes before the write of the record, so that a refusal leaves all fields alone.
namespace orange {

Awaitable<Result<Outcome>> Runner::edit(TaskId id, Edit edit, Caller by) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    if (auto left = leave_lost_workflow(id, edit, by); !left) co_return left.error();
    auto record = co_await settled(id);
    if (!record) co_return record.error();
    const engine::Request none;
    if (auto allowed = authorize(*record, by, none); !allowed) co_return allowed.error();
    auto edited = co_await apply_edit(*record, std::move(edit), by);
    if (!edited) co_return edited.error();
    if (auto stepped = co_await step_bodies(*record); !stepped) co_return stepped.error();
    changed_(id);
    co_return edited;
}

Result<void> Runner::set_harnesses(TaskRecord& record, const Edit& edit) {
    auto& task = record.task;
    for (const auto& [wanted, field] :
         {std::pair{&edit.harness, &task.harness}, std::pair{&edit.review_harness, &task.review_harness}}) {
        if (!*wanted) continue;
        const auto entry = world_.harnesses.find(**wanted);
        if (!entry) return entry.error();
        if (entry->program.empty()) {
            return Error{
                ErrorCode::not_found, "harness " + **wanted + " is not installed; " + entry->harness.install_hint, {}};
        }
        *field = **wanted;
    }
    for (const auto& [wanted, field] :
         {std::pair{&edit.effort, &task.effort}, std::pair{&edit.review_effort, &task.review_effort}}) {
        if (!*wanted) continue;
        *field = (*wanted)->empty() ? std::nullopt : *wanted;
    }
    for (const auto& [harness, effort] :
         {std::pair{&task.harness, &task.effort}, std::pair{&task.review_harness, &task.review_effort}}) {
        const auto entry = world_.harnesses.find(*harness);
        if (!*effort || !entry) continue;
        if (auto known = agents::check_effort(entry->harness, **effort); !known) return known;
    }
    return {};
}

Awaitable<Result<void>> Runner::set_fields(TaskRecord& record, const Edit& edit, Caller by) {
    if (edit.summary) {
        if (edit.summary->find('\n') != std::string::npos || !is_valid_utf8(*edit.summary)) {
            co_return Error{ErrorCode::invalid_argument, "the summary must be one line of UTF-8 text", {}};
        }
        record.task.summary = *edit.summary;
    }
    if (auto set = set_harnesses(record, edit); !set) co_return set.error();
    if (edit.workflow) {
        if (auto moved = change_workflow(record, *edit.workflow, by); !moved) co_return moved.error();
    }
    if (edit.branch) {
        if (auto moved = co_await change_branch(record, *edit.branch); !moved) co_return moved.error();
    } else if (edit.sync_branch) {
        if (auto taken = co_await take_over_branch(record); !taken) co_return taken.error();
    }
    co_return Result<void>{};
}

Awaitable<Result<Outcome>> Runner::apply_edit(TaskRecord& record, Edit edit, Caller by) {
    auto changed = record;
    Outcome outcome;
    if (auto set = co_await set_fields(changed, edit, by); !set) co_return set.error();
    if (edit.feedback) {
        auto written =
            co_await world_.task_files.write_section(changed, copies_of(changed), "Feedback", *edit.feedback);
        if (!written) co_return written.error();
        apply_synced(world_, changed, *written);
    }
    const bool same = changed.task == record.task;
    if (!same) changed.task.updated_at = world_.clock.now();
    if (auto saved = world_.tasks.save(changed); !saved) co_return saved.error();
    if (changed.task.summary != record.task.summary) {
        world_.journal.write(changed, "summary.changed", {{"from", record.task.summary}, {"to", changed.task.summary}});
    }
    if (changed.task.workflow_hash != record.task.workflow_hash || changed.task.workflow != record.task.workflow) {
        world_.journal.write(
            changed, "workflow.changed",
            {{"from", record.task.workflow}, {"to", changed.task.workflow}, {"hash", changed.task.workflow_hash}});
        outcome.notes.push_back("follows the workflow " + changed.task.workflow + " as it is now");
    }
    if (changed.task.branch != record.task.branch) {
        world_.journal.write(changed, "branch.changed", {{"from", record.task.branch}, {"to", changed.task.branch}});
        outcome.notes.push_back("branch is now " + changed.task.branch);
        co_await rename_session(changed);
    }
    record = std::move(changed);
    co_return outcome;
}

Result<workflow::Library::DefinitionPtr> Runner::workflow_for(const TaskRecord& record, const std::string& name,
                                                              const Caller& by) {
    if (by.role != Role::human) return Error{ErrorCode::forbidden, "only a human moves a task to another workflow", {}};
    auto definition = world_.workflows.find(name);
    if (!definition || (*definition)->state(record.task.status)) return definition;
    std::vector<std::string> states;
    for (const auto& state : (*definition)->states) states.push_back(state.name);
    return Error{ErrorCode::conflict,
                 "workflow " + name + " has no state " + printable(record.task.status) +
                     ", in which the task is; its states are " + join(states, ", "),
                 {}};
}

Result<void> Runner::change_workflow(TaskRecord& record, const std::string& name, const Caller& by) {
    const auto definition = workflow_for(record, name, by);
    if (!definition) return definition.error();
    auto hash = world_.workflows.pin(name);
    if (!hash) return hash.error();
    record.task.workflow = name;
    record.task.workflow_hash = *hash;
    const auto* state = (*definition)->state(record.task.status);
    record.ended = state && state->terminal;
    return {};
}

Result<void> Runner::leave_lost_workflow(const TaskId& id, const Edit& edit, const Caller& by) {
    auto record = record_of(id);
    if (!edit.workflow || !record || !record->intent || definition_of(record->task)) return {};
    if (auto moved = change_workflow(*record, *edit.workflow, by); !moved) return moved;
    return world_.tasks.save(*record);
}

Awaitable<Result<void>> Runner::change_branch(TaskRecord& record, std::string branch) {
    auto& task = record.task;
    if (branch == task.branch) co_return Result<void>{};
    if (auto valid = co_await git::check_branch_name(world_.git, branch); !valid) co_return valid.error();
    if (const auto* other = world_.tasks.on_branch(task.project, branch); other && other->task.id != task.id) {
        co_return Error{ErrorCode::conflict, "branch " + branch + " belongs to task " + other->task.id.value, {}};
    }
    const auto* project = world_.projects.find(task.project);
    if (!project) co_return Error{ErrorCode::not_found, "project " + task.project + " is not registered", {}};
    const auto copy = *project;
    if (branch == copy.default_branch) {
        co_return Error{ErrorCode::invalid_argument,
                        branch + " is the default branch, which tasks are merged into; choose another",
                        {}};
    }
    if (!task.workspace) {  // nothing is checked out yet: only a name
        task.branch = branch;
        co_return Result<void>{};
    }
    const auto worktree = world_.pool.path_of(*task.workspace).string();
    const auto lock = co_await world_.repositories.acquire(copy.path);
    const auto existing = co_await git::commit_of(world_.git, copy.path, "refs/heads/" + branch);
    if (!existing) co_return existing.error();
    const auto remote = co_await git::commit_of(world_.git, copy.path, "refs/remotes/origin/" + branch);
    if (!remote) co_return remote.error();
    if (existing->empty() && remote->empty()) {
        auto renamed = co_await git::rename_branch(world_.git, worktree, task.branch, branch);
        if (!renamed) co_return renamed.error();
    } else {
        const auto now = co_await git::current_branch(world_.git, worktree);
        if (!now) co_return now.error();
        if (*now != branch) {
            auto base = co_await git::base_ref(world_.git, copy.path, copy.default_branch);
            if (!base) co_return base.error();
            auto switched = co_await git::checkout_branch(world_.git, copy.path, worktree, branch, *base);
            if (!switched) co_return switched.error();
        }
    }
    task.branch = branch;
    co_return Result<void>{};
}

Awaitable<Result<void>> Runner::take_over_branch(TaskRecord& record) {
    auto& task = record.task;
    if (!task.workspace) {
        co_return Error{ErrorCode::conflict, "task " + task.id.value + " has no workspace to read a branch from", {}};
    }
    auto now = co_await git::current_branch(world_.git, world_.pool.path_of(*task.workspace).string());
    if (!now) co_return now.error();
    if (now->empty()) {
        co_return Error{ErrorCode::conflict,
                        "the workspace is on no branch; run: git switch " + task.branch + ", then try again",
                        {}};
    }
    const auto* project = world_.projects.find(task.project);
    if (project && *now == project->default_branch) {
        co_return Error{ErrorCode::invalid_argument,
                        "the workspace is on the default branch " + *now +
                            ", which tasks are merged into; run: git switch " + task.branch,
                        {}};
    }
    if (auto valid = co_await git::check_branch_name(world_.git, *now); !valid) co_return valid.error();
    if (const auto* other = world_.tasks.on_branch(task.project, *now); other && other->task.id != task.id) {
        co_return Error{ErrorCode::conflict, "branch " + *now + " belongs to task " + other->task.id.value, {}};
    }
    task.branch = *now;
    co_return Result<void>{};
}

Awaitable<void> Runner::rename_session(TaskRecord& record) {
    if (record.runs.empty() || !record.task.tmux_session) co_return;
    const auto wanted = session_name_for(record.task.project, record.task.branch);
    const auto session = record.runs.front().session_id;
    if (session.empty() || wanted == *record.task.tmux_session) co_return;
    auto name = wanted;
    auto renamed = co_await world_.tmux.rename_session(session, name);
    for (int n = 2; !renamed && renamed.error().code == ErrorCode::conflict && n < 100; ++n) {
        name = wanted + "-" + std::to_string(n);
        renamed = co_await world_.tmux.rename_session(session, name);
    }
    if (!renamed) {
        log::warn("runner", renamed.error().message, {{"task", record.task.id.value}});
        co_return;  // the name is a convenience; ids are what counts
    }
    record.task.tmux_session = name;
    if (auto saved = world_.tasks.save(record); !saved) log::error("runner", saved.error().message);
}

Awaitable<Result<Outcome>> Runner::acknowledge(TaskId id) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = record_of(id);
    if (!record) co_return record.error();
    Outcome outcome;
    if (!record->task.attention) {
        outcome.notes = {"nothing asked for attention"};
        co_return outcome;
    }
    record->task.attention.reset();
    record->task.updated_at = world_.clock.now();
    if (auto saved = world_.tasks.save(*record); !saved) co_return saved.error();
    if (auto stepped = co_await step_bodies(*record); !stepped) co_return stepped.error();
    changed_(id);
    co_return outcome;
}

Awaitable<Result<Outcome>> Runner::send(TaskId id, Role to, std::string text) {
    {
        const auto lock = co_await world_.task_locks.acquire(id.value);
        auto record = record_of(id);
        if (!record) co_return record.error();
        if (!agents_.alive(*record, to)) {
            co_return Error{
                ErrorCode::conflict,
                "the " + std::string(name_of(to)) + " is not running; start it: orange task respawn " + id.value,
                {}};
        }
        if (auto queued = agents_.queue_message(*record, to, Role::human, std::move(text)); !queued)
            co_return queued.error();
    }
    const bool delivered = co_await deliver(id);
    changed_(id);
    Outcome outcome;
    if (!delivered) outcome.notes = {"queued; it is delivered when the agent can take it"};
    co_return outcome;
}

Awaitable<Result<Outcome>> Runner::remove(TaskId id, Caller by) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = co_await settled(id);
    if (!record) co_return record.error();
    const auto definition = definition_of(record->task);
    const auto* state = definition ? (*definition)->state(record->task.status) : nullptr;
    const bool ended = state ? state->terminal : store::has_ended(*record);
    if (ended && (record->task.workspace || !record->runs.empty())) {  // its release had failed
        if (auto released = co_await release_ended(*record); !released) co_return released.error();
        kick(record->task.project);
    }
    if (!ended) {
        co_return Error{ErrorCode::needs_force,
                        "task " + id.value + " is " + record->task.status + "; cancel it first (orange task cancel " +
                            id.value + "), or delete it with --force",
                        {}};
    }
    const auto copy = *record;
    if (auto removed = world_.tasks.remove(id); !removed) co_return removed.error();
    world_.task_files.forget(id);
    HistoryEvent event;
    event.type = "task.deleted";
    event.fields = {{"by", std::string(name_of(by.role))}};
    world_.journal.publish(id, copy.task.project, event);
    changed_(id);
    Outcome outcome;
    outcome.notes = {"branch " + copy.task.branch + " is still there"};
    co_return outcome;
}

}  // namespace orange
