#include "daemon/runner/branch/branch.hpp"

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/log/log.hpp"
#include "daemon/runner/attention/attention.hpp"
#include "daemon/runner/merging/merge_target.hpp"
#include "daemon/runner/pulls/pulls.hpp"

namespace orange {
namespace {

std::string on_text(const std::string& branch, const std::string& commit) {
    if (branch.empty()) return "no branch (detached HEAD at " + commit.substr(0, 12) + ")";
    return "branch " + printable(branch);
}

/// The task uses the other branch. If another task has that one, or it is the default branch, a new branch begins at
/// its commit. A task with an open pull request keeps its branch, which gets the commits.
std::string command_for(World& world, const TaskRecord& record, const std::string& branch, const std::string& head,
                        const Path& worktree, bool has_all) {
    const auto& task = record.task;
    const auto in_worktree = "git -C " + shell_word(worktree.string());
    if (has_all && pulls::may_be_open(record)) return in_worktree + " switch -C " + shell_word(task.branch);
    if (pulls::may_be_open(record)) {
        return in_worktree + " switch " + shell_word(task.branch) + " && " + in_worktree + " merge " +
               (branch.empty() ? head : shell_word(branch));
    }
    const auto update = "orange task update " + task.id.value + " --branch ";
    const auto* project = world.projects.find(task.project);
    const auto holder = world.tasks.on_branch(task.project, branch);
    const bool is_others = (project && branch == project->default_branch) || (holder && holder->task != task.id);
    if (!branch.empty() && !is_others) return update + shell_word(branch);
    if (has_all) return in_worktree + " switch -C " + shell_word(task.branch);
    const auto second = shell_word(task.branch + "-2");
    return in_worktree + " switch -c " + second + " && " + update + second;
}

}  // namespace

Awaitable<Result<std::optional<OtherBranch>>> other_branch_of(World& world, TaskRecord record) {
    const auto& task = record.task;
    std::optional<OtherBranch> found;
    if (!task.workspace || is_missing(world.files, world.pool.path_of(*task.workspace))) co_return found;
    CO_TRY(const auto worktree, co_await open_worktree(world, record));
    CO_TRY(const auto branch, co_await git::branch_of(world.git, worktree));
    if (branch == task.branch) co_return found;
    CO_TRY(const auto head, co_await git::commit_of(world.git, worktree, "HEAD"));
    if (head.empty()) co_return found;
    CO_TRY(auto own, co_await git::commit_of(world.git, worktree, "refs/heads/" + task.branch));
    if (own.empty()) {
        CO_TRY(own, co_await git::commit_of(world.git, worktree, "refs/remotes/origin/" + task.branch));
    }
    if (const auto* registered = world.projects.find(task.project)) {
        const auto project = *registered;
        const auto target = co_await target_ref(world, record, project);
        if (target) {
            const auto has_it = co_await git::contains(world.git, worktree, *target, head);
            if (has_it && *has_it) co_return found;  // an agent looks at merged commits
        }
    }
    bool has_all = own.empty();
    if (!own.empty()) {
        CO_TRY(const auto is_in_own, co_await git::contains(world.git, worktree, own, head));
        if (is_in_own) co_return found;
        CO_TRY(has_all, co_await git::contains(world.git, worktree, head, own));
    }
    const auto lost = own.empty() ? "the task's branch " + printable(task.branch) + " does not exist"
                                  : "its commits are not on the task's branch " + printable(task.branch);
    found = OtherBranch{"the worktree is on " + on_text(branch, head) + "; " + lost,
                        command_for(world, record, branch, head, worktree.path(), has_all)};
    co_return found;
}

Awaitable<void> watch_branch(World& world, TaskRecord& record) {
    const auto other = co_await other_branch_of(world, record);
    if (!other) {
        log::warn("runner", other.error().message, {{"task", record.task.id.value}});
    } else if (*other) {
        raise(world, record, NoticeKind::other_branch, (*other)->text, (*other)->command);
    } else {
        (void)clear(record, NoticeKind::other_branch);
    }
}

}  // namespace orange
