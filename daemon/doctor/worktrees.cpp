#include <algorithm>

#include "common/base/text.hpp"
#include "daemon/doctor/exam.hpp"
#include "daemon/process/stray_processes.hpp"
#include "daemon/runner/branch/branch.hpp"

/// Checks of the workspaces, as git and the disk have them.
namespace orange::doctor {
namespace {

/// A running git holds its lock for a shorter time.
constexpr std::chrono::seconds k_lock_age{60};

const git::Worktree* registered(const std::vector<git::Worktree>& trees, const Path& path) {
    const auto found = std::find_if(trees.begin(), trees.end(),
                                    [&](const git::Worktree& tree) { return git::is_at(tree, path.string()); });
    return found == trees.end() ? nullptr : &*found;
}

void check_workspace(Exam& exam, const Project& project, const WorkspaceInfo& info,
                     const std::vector<git::Worktree>& trees, const Result<git::Pinned>& seen) {
    if (info.busy) return;  // a running git may have half made it
    const auto whose = info.task.empty() ? std::string() : " of task " + info.task.value;
    const auto gc = "orange workspace gc --project " + project.name;
    const auto place = info.path.string();
    const auto anew = "mv " + shell_word(place) + " " + shell_word(place + ".old") + " && " + gc;
    const auto* tree = registered(trees, info.path);
    if (!is_folder(exam.world.files, info.path / ".")) {
        exam.report.wrong("the folder of workspace " + info.name + whose + " is gone", gc, place);
    } else if (exam.world.pool.is_replaced(info.name)) {
        exam.report.wrong("another folder or a link is in the place of workspace " + info.name + whose +
                              "; put the folder back, or move it away to have it created again",
                          anew, place);
    } else if (!seen && tree && git::is_half_made(*tree)) {
        exam.report.wrong("workspace " + info.name + " is incomplete, because the git that created it was killed", gc,
                          place);
    } else if (!tree) {
        exam.report.wrong("workspace " + info.name + whose + " is not a worktree of " + project.path +
                              " any more; its contents stay in the folder to which you move it",
                          anew, place);
    } else if (!seen) {
        exam.report.wrong(
            "workspace " + info.name + whose + " and its repository are not connected: " + seen.error().message, gc,
            place);
    }
}

void check_lock(Exam& exam, const std::string& what, const std::string& folder, const Path& lock) {
    const auto facts = exam.world.files.facts_of(lock);
    if (!facts) return;
    const auto age = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() - facts->modified);
    if (age < k_lock_age) return;
    const bool used = !process::working_in(folder).empty();  // one of them may be the git that holds it
    exam.report.wrong(what + " has had a git lock for " + spoken(age) +
                          (used ? ", so no git command works there. Processes work in the folder; if none of them is "
                                  "git, remove the lock"
                                : ", because its git was killed; no git command works there"),
                      "rm " + shell_word(lock.string()), lock.string());
}

}  // namespace

Awaitable<void> check_worktrees(Exam& exam) {
    for (const auto& project : exam.projects()) {
        const auto trees = exam.repositories.find(project.name);
        if (trees == exam.repositories.end()) continue;
        for (const auto& info : exam.world.pool.list(project.name)) {
            const auto seen = co_await exam.world.pool.verify(project, info.name);
            check_workspace(exam, project, info, trees->second, seen);
        }
    }
}

Awaitable<void> check_git_programs(Exam& exam) {
    for (const auto& record : exam.tasks()) {
        auto copy = record;
        const auto alarm = co_await current_alarm(exam.world, std::move(copy));
        if (!alarm.empty()) exam.report.warn("task " + record.task.id.value + ": " + alarm);
    }
}

Awaitable<void> check_locks(Exam& exam) {
    for (const auto& project : exam.projects()) {
        const auto git = Path(project.path) / ".git";
        const auto repository = "the repository of " + project.name;
        for (const char* name : {"index.lock", "HEAD.lock", "packed-refs.lock", "config.lock"}) {
            check_lock(exam, repository, project.path, git / name);
        }
        // While a branch is locked, nothing can be merged into it or committed on it.
        check_lock(exam, "branch " + project.default_branch + " of " + project.name, project.path,
                   git / "refs" / "heads" / (project.default_branch + ".lock"));
        for (const auto& info : exam.world.pool.list(project.name)) {
            const auto seen = co_await exam.world.pool.verify(project, info.name);
            if (!seen) continue;  // reported by check_worktrees
            for (const char* name : {"index.lock", "HEAD.lock"}) {
                check_lock(exam, "workspace " + info.name, info.path.string(), Path(seen->git_dir()) / name);
            }
        }
    }
    for (const auto& record : exam.tasks()) {
        const auto* project = exam.world.projects.find(record.task.project);
        if (!project || !record.task.workspace) continue;
        check_lock(exam, "branch " + record.task.branch + " of task " + record.task.id.value, project->path,
                   Path(project->path) / ".git" / "refs" / "heads" / (record.task.branch + ".lock"));
    }
    co_return;
}

}  // namespace orange::doctor
