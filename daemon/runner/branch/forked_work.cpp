#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/runner/branch/branch.hpp"
#include "daemon/runner/merging/merge_target.hpp"

/// Collects the work with which a new task begins, and changes nothing of it: what is not committed becomes a commit by
/// way of a private index, and only a ref of Orange's holds that commit until the new task has its branch.
namespace orange {
namespace {

GitCommand project_git(const std::string& repository, std::vector<std::string> args) {
    GitCommand command;
    command.place = repository;
    command.args = std::move(args);
    return command;
}

std::string ref_of(const TaskId& id) {
    return "refs/orange/" + id.value + "/fork";
}

}  // namespace

Awaitable<Result<WorkToFork>> work_in(World& world, git::Pinned worktree, std::string message) {
    WorkToFork work;
    CO_TRY(const auto head, co_await git::commit_of(world.git, worktree, "HEAD"));
    auto commit = co_await git::commit_of_files(world.git, worktree, message);
    // An agent at work may have removed a file that git was about to read.
    if (!commit && commit.error().code == ErrorCode::external_failed) {
        commit = co_await git::commit_of_files(world.git, worktree, message);
    }
    if (!commit) co_return commit.error();
    work.commit = std::move(*commit);
    work.has_uncommitted = work.commit != head;
    co_return work;
}

Awaitable<Result<WorkToFork>> work_of(World& world, TaskRecord record) {
    CO_TRY(const auto project, registered_project(world, record.task.project));
    const auto& id = record.task.id.value;
    async::Mutex::Lock held;
    if (auto name = record.task.workspace) {  // else its release empties the folder, and another task may get it
        held = co_await world.pool.hold(*name);
        CO_TRY(const auto now, world.tasks.read(record.task.id));
        record = *now;
        const bool is_its =
            !record.task.workspace || (record.task.workspace == name && world.pool.has_claim(now->task.id));
        if (!is_its) {
            co_return Error(ErrorCode::conflict,
                            "task " + id + " is giving its workspace back. Try again:\n  orange fork " + id);
        }
    }
    WorkToFork work;
    if (record.task.workspace) {  // also of an ended task, if its release has failed
        CO_TRY(auto worktree, co_await open_worktree(world, record));
        CO_TRY(work, co_await work_in(world, std::move(worktree), "Uncommitted work of task " + id));
    } else if (store::has_ended(record)) {
        CO_TRY(work.commit, co_await commit_of_ended(world, record));
    } else {
        CO_TRY(work.commit, co_await git::commit_of(world.git, project.path, "refs/heads/" + record.task.branch));
    }
    if (work.commit.empty()) {
        co_return Error(ErrorCode::not_found,
                        "task " + id + " has no work yet with which another one could begin. To create one like it:\n" +
                            "  orange task create --like " + id);
    }
    CO_TRY(work.base, co_await base_of_work(world, record, project, work.commit));
    co_return work;
}

Awaitable<Result<std::string>> base_of_work(World& world, TaskRecord record, Project project, std::string commit) {
    auto target = record.task.base.value_or("");
    if (target.empty()) {
        CO_TRY(target, co_await target_ref(world, record, project));
    }
    auto merge_base = project_git(project.path, {"merge-base", target, commit});
    const auto base = co_await git_output(world.git, std::move(merge_base));
    co_return base ? std::string(trim(*base)) : std::string();
}

Awaitable<Result<void>> hold_work(World& world, std::string repository, TaskId id, std::string commit) {
    const auto lock = co_await world.repositories.acquire(repository);
    auto update = project_git(repository, {"update-ref", "-m", "orange: fork", ref_of(id), commit});
    CO_TRY(co_await git_output(world.git, std::move(update)));
    co_return Result<void>{};
}

Awaitable<Result<void>> check_begins_with_work(World& world, std::string repository, TaskRecord record) {
    const auto& task = record.task;
    CO_TRY(const auto tip, co_await git::commit_of(world.git, repository, "refs/heads/" + task.branch));
    if (tip.empty()) co_return Result<void>{};
    CO_TRY(const auto has_it, co_await git::contains(world.git, repository, tip, record.forked->commit));
    if (has_it) co_return Result<void>{};  // an earlier start has made it
    co_return Error(ErrorCode::conflict, "branch " + task.branch + " exists by now, without the work with which task " +
                                             task.id.value + " begins. To use another branch:\n  orange task update " +
                                             task.id.value + " --branch NAME");
}

Awaitable<void> let_go_of_work(World& world, std::string repository, TaskId id) {
    const auto lock = co_await world.repositories.acquire(repository);
    auto remove = project_git(repository, {"update-ref", "-d", ref_of(id)});
    (void)co_await git_output(world.git, std::move(remove));  // a left-over ref does no harm
}

}  // namespace orange
