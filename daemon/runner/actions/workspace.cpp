#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/runner/actions/actions.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/placing/walls.hpp"
#include "daemon/runner/runner.hpp"

namespace orange::actions {

Awaitable<Result<std::vector<std::string>>> prepare_workspace(World& world, TaskRecord& record) {
    CO_TRY(auto project, registered_project(world, record.task.project));
    project.settings = settings_of(world, project);
    std::vector<std::string> exclude;
    std::vector<std::string> names = {record.task.harness, record.task.review_harness};
    const auto definition = world.workflows.pinned(record.task.workflow, record.task.workflow_hash);
    if (definition) names = harnesses_of(world, **definition, record.task);
    for (const auto& name : names) {
        const auto entry = world.harnesses.find(name);
        if (!entry) continue;  // the start of the agent reports what is wrong
        exclude.insert(exclude.end(), entry->harness.exclude.begin(), entry->harness.exclude.end());
    }
    auto task = record.task;
    const bool begins_forked = record.forked && record.branch_start.empty();
    if (begins_forked) {
        CO_TRY(co_await check_begins_with_work(world, project.path, record));
        task.base = record.forked->commit;
    }
    CO_TRY(auto acquired, co_await world.pool.acquire(project, std::move(task), std::move(exclude)));
    record.task.workspace = acquired.name;
    record.task_file = acquired.task_file;
    if (record.branch_start.empty()) record.branch_start = acquired.branch_start;
    if (begins_forked) {  // the commits since then count as the task's own
        if (!record.forked->base.empty()) record.branch_start = record.forked->base;
        auto repository = project.path;
        auto id = record.task.id;
        co_await let_go_of_work(world, std::move(repository), std::move(id));
    }
    (void)co_await note_programs(world, record);
    co_return std::move(acquired.notes);
}

/// Does nothing new in a transition, whose prepare step took the workspace before the commit.
Awaitable<Result<void>> acquire_workspace(Context& context, const Action&) {
    if (context.record.task.workspace) co_return Result<void>{};
    CO_TRY(co_await prepare_workspace(context.world, context.record));
    co_return Result<void>{};
}

namespace {

/// An agent may have renamed its branch with git and ended before it called orange: the task's work is on that branch.
Awaitable<Result<void>> follow_renamed_branch(Context& context, Project project, std::string branch) {
    auto& record = context.record;
    const auto old = record.task.branch;
    if (branch.empty() || branch == old || branch == project.default_branch || record.merge) co_return Result<void>{};
    if (context.world.tasks.on_branch(project.name, branch)) co_return Result<void>{};
    CO_TRY(const auto there, co_await git::commit_of(context.world.git, project.path, "refs/heads/" + old));
    if (!there.empty()) co_return Result<void>{};
    record.task.branch = branch;
    context.world.journal.write(record, "branch.changed", {{"from", old}, {"to", branch}, {"by", "system"}});
    co_return Result<void>{};
}

/// Retires the mirror of TASK.md, saves the uncommitted work, and releases the workspace.
Awaitable<Result<void>> empty_workspace(Context& context, Project project) {
    auto& record = context.record;
    const auto* state = context.definition.state(record.task.status);
    const bool is_cancelled = state && state->meaning == engine::Meaning::cancelled;
    const auto retired = co_await context.runner.turns.retire_mirror(record);
    if (!retired && !is_cancelled) co_return retired.error();
    if (!retired) context.notes.push_back(retired.error().message);
    if (is_cancelled) {
        const auto notes = co_await context.world.pool.ignored_notes(project, record.task.id);
        context.notes.insert(context.notes.end(), notes.begin(), notes.end());
    }
    auto task = record.task;
    const auto left = co_await walls::give_up(context.world, std::move(task));
    context.notes.insert(context.notes.end(), left.begin(), left.end());
    const auto own = walls::repository_of(context.world, record.task.id.value);
    const bool is_left = is_folder(context.world.files, own);  // it could not be moved, and has what is nowhere else
    CO_TRY(const auto released, co_await context.world.pool.release(project, record.task));
    auto ended = record.task;
    if (!is_left) co_await walls::sweep(context.world, std::move(ended));
    CO_TRY(co_await follow_renamed_branch(context, project, released.branch));
    const auto& on = released.branch;
    if (!on.empty() && on != record.task.branch && on != project.default_branch) {
        context.notes.push_back("the worktree was on branch " + printable(on) + ", which is kept");
    }
    if (!released.snapshot.empty()) {
        context.world.journal.write(record, "workspace.snapshot",
                                    {{"ref", released.ref}, {"commit", released.snapshot}});
        if (record.merge && record.merge->phase == MergePhase::done) {
            context.notes.push_back("the workspace had uncommitted work, which was not merged; it is kept in " +
                                    released.ref);
        }
    }
    context.notes.insert(context.notes.end(), released.notes.begin(), released.notes.end());
    for (const auto& failure : released.failures) {
        context.world.journal.write(record, "hook.failed", {{"hook", "teardown"}, {"error", failure}});
        context.notes.push_back(failure);
    }
    if (!released.failures.empty()) {
        raise(context.world, record, NoticeKind::hook_failed, released.failures.front(),
              "orange task show " + record.task.id.value);
    }
    for (const auto& ref : released.commits) context.world.journal.write(record, "workspace.snapshot", {{"ref", ref}});
    co_return Result<void>{};
}

}  // namespace

Awaitable<Result<void>> release_workspace(Context& context, const Action&) {
    auto& record = context.record;
    if (!record.task.workspace) co_return Result<void>{};
    CO_TRY(const auto project, project_of(context));
    // End the agents first: an agent in a worktree that is reset would write into the next task's work.
    for (const Role role : {Role::reviewer, Role::worker}) {
        CO_TRY(co_await context.runner.agents.end(record, role));
    }
    (void)co_await context.runner.previews.end(record.task.id);
    if (!record.left.empty()) {
        co_return Error(ErrorCode::unavailable,
                        "the workspace is kept: executor " + record.left.front().executor + " has not ended the run " +
                            agents::name_in_executor(record.left.front().run.value) +
                            " yet; if you have ended it yourself, run: orange task ack " + record.task.id.value);
    }
    // Without a claim, an earlier release was not saved completely, and the workspace belongs to another task by now.
    if (context.world.pool.has_claim(record.task.id)) CO_TRY(co_await empty_workspace(context, project));
    const auto workspace = *record.task.workspace;
    record.task.workspace.reset();
    record.died.clear();
    record.programs.reset();
    std::map<std::string, Scalar> fields = {{"workspace", workspace}};
    if (!context.tx.empty()) fields["tx"] = context.tx;
    co_return context.world.journal.write_once(record, "workspace.released", std::move(fields));
}

}  // namespace orange::actions
