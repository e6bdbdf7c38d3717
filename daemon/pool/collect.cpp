#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/nested.hpp"
#include "daemon/pool/occupants.hpp"
#include "daemon/pool/pool.hpp"

/// Operations on workspaces without a task: creation ahead of use, repair, removal.
namespace orange {

Awaitable<Result<std::vector<std::string>>> Pool::init(Project project) {
    std::vector<std::string> done;
    const auto lock = co_await repositories_.acquire(project.path);
    // Orange itself creates the folder, by writing a file into it, because it syncs it; a folder made by git could be
    // lost at a power failure.
    if (!is_folder(files_, root_)) CO_TRY(claims_.write());
    for (int number = 1; number <= project.pool_size; ++number) {
        const auto name = workspace_name(project.name, number);
        const bool known = claims_.find(name) != nullptr;
        if (known && !is_missing(files_, path_of(name))) continue;
        if (auto made = co_await make_worktree(project, name); !made) {
            if (!known) claims_.erase(name);
            co_return made.error();
        }
        done.push_back(name + " created");
    }
    CO_TRY(claims_.write());
    co_return done;
}

/// Removes worktrees whose creation was interrupted: they contain only what git had begun to write, and no git command
/// works in them.
Awaitable<std::vector<std::string>> Pool::remove_half_made(Project project, std::vector<std::string> names) {
    std::vector<std::string> done;
    const auto lock = co_await repositories_.acquire(project.path);
    const auto trees = co_await git::listed_worktrees(git_, project.path);
    if (!trees) co_return done;
    for (const auto& name : names) {
        // A worktree with an identity was complete once: git's mark in it may be an agent's.
        if (in_use_.contains(name) || claims_.identity_of(name)) continue;
        const auto path = path_of(name).string();
        if (!git::is_half_made_at(*trees, path)) continue;
        const InUse in_use(in_use_, name);
        co_await agents::end_left_by_daemons(path_of(name), mark_);  // its git may still run
        const auto removed = co_await git::remove_worktree(git_, project.path, path);
        // A claim stays: the task that has it creates the worktree again.
        if (removed && claims_.holder_of(name).empty()) claims_.erase(name);
        done.push_back(removed ? name + " removed, because it was incomplete"
                               : name + " is incomplete and could not be removed: " + removed.error().message);
    }
    co_return done;
}

Awaitable<Result<std::vector<std::string>>> Pool::gc(Project project, std::function<bool(const TaskId&)> is_live) {
    const auto names = claims_.of(project.name);
    auto done = co_await remove_half_made(project, names);
    for (const auto& name : names) {
        if (in_use_.contains(name)) continue;
        const auto* slot = claims_.find(name);
        if (!slot) continue;
        const auto task = slot->task;
        const bool surplus = slot->number > project.pool_size;
        if (!task.empty() && is_live(task)) {
            if (is_folder(files_, path_of(name))) (void)co_await open(project, name);  // open() repairs what it can
            continue;
        }
        if (!task.empty()) {
            Task holder;
            holder.id = task;
            std::function<bool()> still = [&is_live, &task] { return !is_live(task); };
            auto released = co_await release_if(project, holder, std::move(still));
            if (claims_.holder_of(name) == task && released) continue;  // the task is live again
            if (!released) {
                done.push_back(name + " could not be freed: " + released.error().message);
                continue;
            }
            done.push_back(name + " freed" +
                           (released->snapshot.empty() ? "" : "; uncommitted work is in " + released->ref));
            done.insert(done.end(), released->notes.begin(), released->notes.end());
            done.insert(done.end(), released->failures.begin(), released->failures.end());
        }
        if (surplus || is_missing(files_, path_of(name))) {
            if (!is_idle(name)) continue;
            const InUse in_use(in_use_, name);
            auto removed = co_await discard(project, name);
            if (!removed) {
                done.push_back(name + ": " + removed.error().message);
                continue;
            }
            claims_.erase(name);
            CO_TRY(claims_.write());
            done.push_back(name + (surplus ? " removed: the pool is smaller than before"
                                           : " removed from the pool: its folder no longer exists"));
        }
    }
    CO_TRY(claims_.write());
    co_return done;
}

Awaitable<Result<void>> Pool::discard(Project project, std::string name) {
    const auto path = path_of(name).string();
    if (!is_missing(files_, path)) {
        CO_TRY(const auto worktree, co_await open(project, name));
        CO_TRY(co_await check_nobody_works_in(path_of(name)));
        remove_stale_locks(worktree);
        const git::Refs none_known;
        CO_TRY(auto standing, co_await look_at(worktree, none_known));
        CO_TRY(co_await save_all(worktree, std::move(standing), "refs/orange/" + name, "found",
                                 "Found in " + name + " when it was removed"));
        if (worktree.is_walled()) {
            auto found = (root_ / ".found").string();
            CO_TRY(co_await git::set_repositories_aside(git_, worktree, std::move(found)));
        }
        CO_TRY(co_await open(project, name));  // git uses the path, so check again that it leads to this worktree
    } else {
        CO_TRY(co_await keep_of_missing(project, name));
    }
    const auto lock = co_await repositories_.acquire(project.path);
    co_return co_await git::remove_worktree(git_, project.path, path);
}

Awaitable<Result<void>> Pool::remove_workspaces(Project project) {
    const auto names = claims_.of(project.name);
    for (const auto& name : names) {
        const auto task = claims_.holder_of(name);
        if (!task.empty()) co_return Error(ErrorCode::conflict, name + " is still taken by task " + task.value);
    }
    CO_TRY(co_await remove_checks_place(project));
    for (const auto& name : names) {
        if (!is_idle(name)) co_return Error(ErrorCode::conflict, name + " has just been taken by a task");
        const InUse in_use(in_use_, name);
        if (is_folder(files_, project.path)) CO_TRY(co_await discard(project, name));
        claims_.erase(name);
        CO_TRY(claims_.write());
    }
    co_return Result<void>{};
}

}  // namespace orange
