#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/pool.hpp"

/// Worktrees below the folder of all workspaces that were not added by Orange; mostly agents add them.
namespace orange {
namespace {

/// Returns true for a name of a workspace, or of the folder of a check or a merge, which Orange removes itself.
bool is_of_orange(const std::string& name) {
    const auto dashes = name.rfind("--");
    const bool is_workspace = dashes != std::string::npos && dashes + 2 < name.size() &&
                              name.find_first_not_of("0123456789", dashes + 2) == std::string::npos;
    return name.find('/') == std::string::npos && (name.starts_with('.') || is_workspace);
}

}  // namespace

Awaitable<Result<std::vector<git::Stray>>> Pool::forget_strays(Project project, std::string refs) {
    CO_TRY(const auto common, co_await known_.git_dir(git_, project.path));
    CO_TRY(const auto below, git::worktrees_below(common, root_.string()));
    std::vector<git::Stray> left;
    for (const auto& stray : below) {
        if (is_of_orange(stray.below)) continue;
        if (!stray.is_gone || stray.is_locked) {
            left.push_back(stray);
            continue;
        }
        CO_TRY(const auto kept, co_await git::keep_commits_of_missing(git_, common, stray.admin, refs));
        CO_TRY(git::forget(git_, common, stray.path));
        log::info("pool", "forgot the worktree " + stray.path + ", whose folder is gone" +
                              (kept.empty() ? "" : "; its commits are in " + join(kept, ", ")));
    }
    co_return left;
}

Awaitable<std::vector<std::string>> Pool::stray_notes(Project project, Task task) {
    std::vector<std::string> notes;
    const auto left = co_await forget_strays(project, "refs/orange/" + task.id.value);
    if (!left) {
        log::warn("pool", left.error().message, {{"task", task.id.value}});
        co_return notes;
    }
    const auto created = std::chrono::duration_cast<std::chrono::seconds>(task.created_at.time_since_epoch()).count();
    for (const auto& stray : *left) {
        if (stray.added < created) continue;  // older than the task
        notes.push_back("the worktree " + shown_path(stray.path) + ", which was added while the task ran, stays" +
                        (stray.branch.empty() ? "" : ", on branch " + printable(stray.branch)) +
                        ". When nothing in it is needed:\n  git -C " + shell_word(project.path) + " worktree remove " +
                        shell_word(stray.path));
    }
    co_return notes;
}

}  // namespace orange
