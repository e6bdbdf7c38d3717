#include "daemon/runner/edits.hpp"

#include <utility>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/async/async.hpp"
#include "daemon/engine/permissions.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/worktree.hpp"

namespace orange {
namespace {

Error taken_by(const std::string& branch, const store::BranchHolder& other) {
    return Error(ErrorCode::conflict, "branch " + branch + " belongs to task " + other.task.value);
}

}  // namespace

Result<void> Edits::set_harnesses(TaskRecord& record, const Edit& edit) {
    auto& task = record.task;
    for (const auto& [wanted, field] :
         {std::pair{&edit.harness, &task.harness}, std::pair{&edit.review_harness, &task.review_harness}}) {
        if (!*wanted) continue;
        TRY(const auto entry, world_.harnesses.find(**wanted));
        if (entry.program.empty()) return world_.harnesses.not_installed(entry);
        *field = **wanted;
        record.harness_hashes[**wanted] = entry.hash;
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
        TRY(agents::check_effort(entry->harness, **effort));
    }
    return {};
}

Awaitable<Result<void>> Edits::set(TaskRecord& record, const Edit& edit, Caller by) {
    if (edit.summary) {
        if (edit.summary->find('\n') != std::string::npos || !is_valid_utf8(*edit.summary)) {
            co_return Error(ErrorCode::invalid_argument, "the summary must be one line of UTF-8 text");
        }
        record.task.summary = *edit.summary;
    }
    if (edit.feedback) record.unwritten_feedback = *edit.feedback;
    CO_TRY(set_harnesses(record, edit));
    if (edit.workflow) CO_TRY(change_workflow(record, *edit.workflow, by));
    if (edit.branch) {
        CO_TRY(co_await change_branch(record, *edit.branch));
    } else if (edit.sync_branch) {
        CO_TRY(co_await take_over_branch(record));
    }
    co_return Result<void>{};
}

Awaitable<Result<std::vector<std::string>>> Edits::commit(TaskRecord before, TaskRecord& changed, Caller by,
                                                          bool moved_branch) {
    std::vector<std::string> notes;
    const auto& was = before.task;
    const auto& is = changed.task;
    // Git took its time: another task may have come to this branch meanwhile.
    std::optional<store::BranchHolder> other;
    if (is.branch != was.branch) other = world_.tasks.on_branch(is.project, is.branch);
    auto saved = Result<void>{};
    if (other && other->task != is.id) {
        saved = taken_by(is.branch, *other);
    } else {
        saved = world_.tasks.save(changed);
    }
    if (!saved) {
        if (moved_branch) co_await take_back_branch(before, changed);
        co_return saved.error();
    }
    const auto who = std::string(name_of(by.role));
    if (is.summary != was.summary) {
        world_.journal.write(changed, "summary.changed", {{"from", was.summary}, {"to", is.summary}, {"by", who}});
    }
    if (is.workflow_hash != was.workflow_hash || is.workflow != was.workflow) {
        tell_workflow(changed, was.workflow);
        notes.push_back("workflow is now " + is.workflow);
    }
    if (is.branch != was.branch) {
        world_.journal.write(changed, "branch.changed", {{"from", was.branch}, {"to", is.branch}, {"by", who}});
        notes.push_back("branch is now " + is.branch);
        co_await rename_session(changed);
    }
    co_return notes;
}

Awaitable<void> Edits::take_back_branch(TaskRecord before, TaskRecord changed) {
    const auto* project = world_.projects.find(before.task.project);
    if (before.task.branch == changed.task.branch || !before.task.workspace || !project) co_return;
    const auto repo = project->path;
    const auto lock = co_await world_.repositories.acquire(repo);
    const auto worktree = co_await open_worktree(world_, before);
    if (!worktree) {
        log::warn("runner", worktree.error().message, {{"task", before.task.id.value}});
        co_return;
    }
    const auto old = co_await git::commit_of(world_.git, repo, "refs/heads/" + before.task.branch);
    auto undone = Result<void>{};
    if (!old) {
        undone = old.error();
    } else if (old->empty()) {  // renamed; else there was another, which is checked out now
        undone = co_await git::rename_branch(world_.git, *worktree, changed.task.branch, before.task.branch);
    } else if (const auto now = co_await git::current_branch(world_.git, *worktree);
               now && *now != before.task.branch) {
        const auto back = co_await git::checkout_branch(world_.git, repo, *worktree, before.task.branch, *old);
        if (!back) undone = back.error();
    }
    if (!undone) log::warn("runner", undone.error().message, {{"task", before.task.id.value}});
}

Result<workflow::Library::DefinitionPtr> Edits::workflow_for(const TaskRecord& record, const std::string& name,
                                                             const Caller& by) {
    TRY(engine::may_change_workflow(by));
    auto definition = world_.workflows.find(name);
    if (!definition || (*definition)->state(record.task.status)) return definition;
    std::vector<std::string> states;
    for (const auto& state : (*definition)->states) states.push_back(state.name);
    return Error(ErrorCode::conflict, "workflow " + name + " has no state " + printable(record.task.status) +
                                          ", the task's status; its states are " + join(states, ", "));
}

Result<void> Edits::change_workflow(TaskRecord& record, const std::string& name, const Caller& by) {
    TRY(const auto definition, workflow_for(record, name, by));
    TRY(auto hash, world_.workflows.pin(name));
    record.task.workflow = name;
    record.task.workflow_hash = hash;
    const auto* state = definition->state(record.task.status);
    record.ended = state && state->terminal;
    return {};
}

void Edits::tell_workflow(const TaskRecord& record, const std::string& from) {
    const auto& task = record.task;
    world_.journal.write(record, "workflow.changed",
                         {{"from", from}, {"to", task.workflow}, {"hash", task.workflow_hash}});
}

Result<void> Edits::leave_lost_workflow(TaskRecord& record, const Edit& edit, const Caller& by) {
    if (!edit.workflow || !record.intent || turns_.definition_of(record.task)) return {};
    const auto from = record.task.workflow;
    TRY(change_workflow(record, *edit.workflow, by));
    TRY(world_.tasks.save(record));
    tell_workflow(record, from);
    return {};
}

Awaitable<Result<void>> Edits::change_branch(TaskRecord& record, std::string branch) {
    auto& task = record.task;
    if (branch == task.branch) co_return Result<void>{};
    CO_TRY(co_await git::check_branch_name(world_.git, branch));
    if (const auto other = world_.tasks.on_branch(task.project, branch); other && other->task != task.id) {
        co_return taken_by(branch, *other);
    }
    const auto* project = world_.projects.find(task.project);
    if (!project) co_return Error(ErrorCode::not_found, "project " + task.project + " is not registered");
    const auto copy = *project;
    if (branch == copy.default_branch) {
        co_return Error(ErrorCode::invalid_argument,
                        "a task cannot work on the default branch " + branch + "; choose another branch");
    }
    if (!task.workspace) {  // nothing is checked out yet: only a name
        task.branch = branch;
        co_return Result<void>{};
    }
    const auto lock = co_await world_.repositories.acquire(copy.path);
    CO_TRY(const auto worktree, co_await open_worktree(world_, record));
    CO_TRY(const auto existing, co_await git::commit_of(world_.git, copy.path, "refs/heads/" + branch));
    CO_TRY(const auto remote, co_await git::commit_of(world_.git, copy.path, "refs/remotes/origin/" + branch));
    if (existing.empty() && remote.empty()) {
        CO_TRY(co_await git::rename_branch(world_.git, worktree, task.branch, branch));
    } else {
        CO_TRY(const auto now, co_await git::current_branch(world_.git, worktree));
        if (now != branch) {
            CO_TRY(auto base, co_await git::base_ref(world_.git, copy.path, copy.default_branch));
            CO_TRY(co_await git::checkout_branch(world_.git, copy.path, worktree, branch, base));
        }
    }
    task.branch = branch;
    co_return Result<void>{};
}

Awaitable<Result<void>> Edits::take_over_branch(TaskRecord& record) {
    auto& task = record.task;
    if (!task.workspace) {
        co_return Error(ErrorCode::conflict, "task " + task.id.value + " has no workspace to read a branch from");
    }
    CO_TRY(const auto worktree, co_await open_worktree(world_, record));
    CO_TRY(auto now, co_await git::current_branch(world_.git, worktree));
    if (now.empty()) {
        co_return Error(ErrorCode::conflict,
                        "the workspace is on no branch (detached HEAD). Switch to one in the worktree, then try "
                        "again:\n  git switch " +
                            task.branch);
    }
    const auto* project = world_.projects.find(task.project);
    if (project && now == project->default_branch) {
        co_return Error(ErrorCode::invalid_argument, "the workspace is on the default branch " + now +
                                                         ". Switch back in the worktree:\n  git switch " + task.branch);
    }
    CO_TRY(co_await git::check_branch_name(world_.git, now));
    if (const auto other = world_.tasks.on_branch(task.project, now); other && other->task != task.id) {
        co_return taken_by(now, *other);
    }
    task.branch = now;
    co_return Result<void>{};
}

Awaitable<void> Edits::rename_session(TaskRecord& record) {
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
    turns_.save(record);
}

}  // namespace orange
