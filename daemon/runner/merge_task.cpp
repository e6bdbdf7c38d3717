#include <filesystem>

#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/runner/programs.hpp"
#include "daemon/runner/runner.hpp"
#include "daemon/runner/worktree.hpp"

/// `orange task merge`: the caller of the engine, not a hook (seed 003, "The Merge Command"). The task is moved to
/// `done` only when the default branch holds its commits.
namespace orange {
namespace {

Caller merging_for(const Caller& human) {
    Caller caller = human;
    caller.role = Role::system;
    caller.evidence = "merge command of " + human.evidence;
    return caller;
}

}  // namespace

Awaitable<Result<void>> Runner::check_reviewed(TaskRecord record) {
    const auto& task = record.task;
    const auto& seen = record.reviewed_commit;
    const auto* project = world_.projects.find(task.project);
    if (seen.empty() || !project) co_return Result<void>{};
    const auto repo = project->path;
    auto tip = co_await git::commit_of(world_.git, repo, "refs/heads/" + task.branch);
    // Where there is no such branch the merge takes origin's; where there is neither it refuses.
    if (tip && tip->empty()) tip = co_await git::commit_of(world_.git, repo, "refs/remotes/origin/" + task.branch);
    if (!tip) co_return tip.error();
    if (tip->empty() || *tip == seen) co_return Result<void>{};
    co_return Error{ErrorCode::needs_force,
                    "branch " + task.branch + " is not what was reviewed: the reviewer was given " +
                        seen.substr(0, 12) + ", and it is at " + tip->substr(0, 12) + " now; look: git -C " + repo +
                        " log -p " + (seen == "none" ? "" : seen.substr(0, 12) + "..") + tip->substr(0, 12) +
                        "; to merge it all the same: orange task merge " + task.id.value + " --force",
                    {}};
}

Awaitable<Result<MergeOutcome>> Runner::merge(TaskId id, git::MergeStrategy strategy, bool force, Caller by) {
    const auto lock = co_await world_.task_locks.acquire(id.value);
    auto record = co_await settled(id);
    if (!record) co_return record.error();
    const auto& task = record->task;
    const auto definition = definition_of(task);
    if (!definition) co_return definition.error();
    const auto* project = world_.projects.find(task.project);
    if (!project) co_return Error{ErrorCode::not_found, "project " + task.project + " is not registered", {}};
    const auto copy = *project;

    engine::Request done;
    done.to = std::string(engine::k_done);
    done.by = Role::system;
    done.force = force;
    auto stepped = co_await step_bodies(*record);
    if (!stepped) co_return stepped.error();
    const engine::Situation situation{task, stepped->artifacts, record->entry_sections};
    if (auto possible = engine::decide_request(**definition, situation, done); !possible) {
        if (possible.error().code == ErrorCode::needs_force) {
            co_return Error{ErrorCode::needs_force,
                            "task " + id.value + " is " + task.status +
                                ", not reviewed; to merge it all the same: orange task merge " + id.value + " --force",
                            {}};
        }
        co_return explained(possible.error(), **definition, situation, by);
    }

    if (!force) {
        if (auto reviewed = co_await check_reviewed(*record); !reviewed) co_return reviewed.error();
    }

    MergeOutcome outcome;
    co_await watch_programs(world_, *record);
    if (auto alarm = alarm_of(*record); !alarm.empty()) outcome.notes.push_back(std::move(alarm));
    // Also where it has no news: what cannot be written down afterwards is not to be merged.
    if (auto saved = world_.tasks.save(*record); !saved) co_return saved.error();
    std::error_code gone;
    if (task.workspace && !std::filesystem::exists(world_.pool.path_of(*task.workspace), gone)) {
        outcome.notes.push_back("the folder of its workspace is gone, with whatever was not committed there");
    } else if (task.workspace) {
        const auto worktree = co_await open_worktree(world_, *record);
        if (!worktree) co_return worktree.error();
        const auto dirty = co_await git::is_dirty(world_.git, *worktree);
        if (!dirty) co_return dirty.error();
        if (*dirty) {
            outcome.notes.push_back("the workspace had uncommitted work, which was not merged; it is kept in " +
                                    Pool::wip_ref(id));
        }
    }
    git::MergeRequest request;
    request.repo = copy.path;
    request.scratch = (world_.paths.workspaces() / (".merge-" + id.value)).string();
    request.branch = task.branch;
    if (!force && record->reviewed_commit != "none") request.tip = record->reviewed_commit;
    request.default_branch = copy.default_branch;
    request.strategy = strategy;
    request.message = "Merge branch '" + task.branch + "'" + (task.summary.empty() ? "" : "\n\n" + task.summary) +
                      "\n\nTask: " + id.value + "\n";
    {
        // One after the other: the second begins at what the first has pushed.
        const auto turn = co_await merges_.acquire(copy.path);
        git::LockRepository hold = [&locks = world_.repositories, repo = copy.path] { return locks.acquire(repo); };
        auto merged = co_await git::merge(world_.git, request, std::move(hold));
        if (!merged) co_return in_context("merging " + task.branch, merged.error());
        outcome.merged = std::move(*merged);
    }
    if (!outcome.merged.note.empty()) outcome.notes.push_back(outcome.merged.note);
    world_.journal.write(*record, "task.merged",
                         {{"commit", outcome.merged.commit}, {"pushed", outcome.merged.pushed}});
    const Edit no_edit;
    auto moved = co_await request_locked(*record, done, merging_for(by), no_edit);
    if (!moved) co_return in_context("it is merged, but the task could not be moved to done", moved.error());
    outcome.notes.insert(outcome.notes.end(), moved->notes.begin(), moved->notes.end());
    co_return outcome;
}

}  // namespace orange
