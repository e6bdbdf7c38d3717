#include "common/base/try.hpp"
#include "daemon/agents/survivors.hpp"
#include "daemon/git/sparse.hpp"
#include "daemon/git/submodules.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/pool.hpp"

/// The worktree in which a project's checks run if they are not to run in a workspace. It holds no work, so a damaged
/// one is made again.
namespace orange {

/// Resets the existing worktree to the commit. Returns an error if it is missing or cannot be used.
Awaitable<Result<git::Pinned>> Pool::bring_checks_place(Project project, std::string commit) {
    const auto name = place_name(project.name);
    std::vector<git::RestoredFile> mended;
    CO_TRY(auto worktree, co_await pinned(project, name, mended));
    for (const auto& what : mended) log::warn("pool", "put right in " + name + ": " + what.what);
    remove_stale_locks(worktree);
    CO_TRY(const auto standing, co_await git::worktree_status(git_, worktree));
    CO_TRY(co_await git::reset_all(git_, worktree, std::move(commit), standing));
    CO_TRY(co_await git::match_sparse_checkout(git_, project.path, worktree, standing));
    co_return worktree;
}

Awaitable<Result<git::Pinned>> Pool::open_checks_place(Project project, std::string commit,
                                                       std::vector<std::string>& notes, std::shared_ptr<Stop> stop) {
    const auto path = checks_place(project.name);
    co_await agents::end_left_by_daemons(path, mark_);
    auto lock = co_await repositories_.acquire(project.path);
    auto worktree = Result<git::Pinned>(Error(ErrorCode::not_found, "it is missing"));
    if (!is_missing(files_, path)) {
        worktree = co_await bring_checks_place(project, commit);
        if (!worktree) log::warn("pool", path.string() + " is made again: " + worktree.error().message);
    }
    if (!worktree) {
        CO_TRY(co_await drop_checks_place(project));
        CO_TRY(co_await git::add_worktree(git_, project.path, path.string(), std::move(commit)));
        worktree = co_await git::pin_new(git_, project.path, path.string());
    }
    lock.release();  // submodules may take minutes, and the place is the caller's
    if (!worktree) co_return worktree;
    auto from = co_await homes_of_submodules(project);
    notes = co_await git::check_out_submodules(git_, *worktree, std::move(from), std::move(stop));
    co_return worktree;
}

/// Returns the git directories that may have repositories of submodules: the project's own and those of its workspaces,
/// but for the ones behind a wall, whose repositories are an agent's.
Awaitable<std::vector<std::string>> Pool::homes_of_submodules(Project project) {
    std::vector<std::string> homes;
    const auto common = co_await known_.git_dir(git_, project.path);
    if (!common) co_return homes;
    homes.push_back(*common);
    for (const auto& name : claims_.of(project.name)) {
        const auto identity = claims_.identity_of(name);
        if (identity && !claims_.is_walled(name)) homes.push_back(*common + "/worktrees/" + identity->admin);
    }
    co_return homes;
}

Awaitable<Result<void>> Pool::drop_checks_place(Project project) {
    const auto path = checks_place(project.name).string();
    CO_TRY(files_.list(root_));  // git would create the folders of a home that was removed
    if (is_folder(files_, project.path)) {
        CO_TRY(const auto common, co_await known_.git_dir(git_, project.path));
        CO_TRY(git::forget(git_, common, path));
    }
    co_return files_.remove(path);
}

Awaitable<Result<bool>> Pool::remove_checks_place(Project project) {
    const auto path = checks_place(project.name);
    if (is_missing(files_, path)) co_return false;
    co_await agents::end_left_by_daemons(path, mark_);
    const auto lock = co_await repositories_.acquire(project.path);
    CO_TRY(co_await drop_checks_place(std::move(project)));
    co_return true;
}

}  // namespace orange
