
#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/nested.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pool/pool.hpp"

/// Opens workspaces for git: every git command goes through here. Verifies that the folder is the one that Orange made,
/// and that it leads to its own repository.
namespace orange {

bool Pool::is_replaced(const std::string& name) const {
    const auto path = path_of(name);
    const auto identity = claims_.identity_of(name);
    if (identity && git::is_same_folder(path.string(), *identity)) return false;
    return !is_missing(files_, path) && (identity || !is_folder(files_, path));
}

Awaitable<Result<git::Pinned>> Pool::verify(Project project, std::string name) const {
    const auto path = path_of(name).string();
    CO_TRY(const auto common, co_await known_.git_dir(git_, project.path));
    const auto known = claims_.identity_of(name);
    CO_TRY(auto identity, known ? Result<git::Identity>(*known) : git::identify(common, path));
    co_return git::pin_as_it_is(common, path, identity, claims_.is_walled(name));
}

Awaitable<Result<git::Identity>> Pool::identity_of(std::string common_dir, std::string name) {
    if (const auto known = claims_.identity_of(name)) co_return *known;
    const auto path = path_of(name).string();
    auto found = git::identify(common_dir, path);
    if (!found) {
        auto refused = found.error();
        refused.message += "; move it away to have it created again: mv " + shell_word(path) + " " +
                           shell_word(path + ".old") + " && orange workspace gc";
        co_return refused;
    }
    if (!claims_.find(name)) co_return found;
    claims_.set_identity(name, *found);
    if (auto written = claims_.write(); !written) log::warn("pool", written.error().message, {{"workspace", name}});
    co_return found;
}

Awaitable<Result<git::Pinned>> Pool::pinned(Project project, std::string name, std::vector<git::RestoredFile>& mended) {
    CO_TRY(const auto common, co_await known_.git_dir(git_, project.path));
    if (being_removed_.contains(name)) co_return Error(ErrorCode::conflict, name + " is being made again");
    CO_TRY(const auto identity, co_await identity_of(common, name));
    co_return git::pin(common, path_of(name).string(), identity, claims_.is_walled(name), (root_ / ".found").string(),
                       mended);
}

Awaitable<Result<git::Pinned>> Pool::open(Project project, std::string name) {
    std::vector<git::RestoredFile> mended;
    auto worktree = co_await pinned(std::move(project), name, mended);
    for (const auto& what : mended) on_restored_(claims_.holder_of(name), name, what);
    co_return worktree;
}

Result<void> Pool::note_walled(const std::string& name) {
    if (claims_.is_walled(name)) return {};
    claims_.set_walled(name, true);
    return claims_.write();
}

Awaitable<Result<void>> Pool::make_anew(Project project, std::string name, git::Pinned worktree,
                                        std::vector<std::string>& notes) {
    const auto path = path_of(name).string();
    auto found = (root_ / ".found").string();
    CO_TRY(const auto moved, co_await git::set_repositories_aside(git_, worktree, std::move(found)));
    for (const auto& place : moved) {
        notes.push_back("a repository that the agent made or changed was moved to " + shown_path(place) +
                        ": git may run what its configuration names");
    }
    const InUse being_removed(being_removed_, name);
    CO_TRY(co_await git::remove_worktree(git_, project.path, path));
    claims_.set_identity(name, std::nullopt);
    claims_.set_walled(name, false);
    co_return claims_.write();
}

Awaitable<Result<void>> Pool::relocate(Project project) {
    auto names = claims_.of(project.name);
    std::erase_if(names, [this](const auto& name) { return !is_folder(files_, path_of(name)); });
    const auto lock = co_await repositories_.acquire(project.path);
    Result<void> all;
    for (const auto& name : names) {
        std::vector<git::RestoredFile> expected;
        const auto found = co_await pinned(project, name, expected);
        if (!found && all) all = found.error();
    }
    co_return all;
}

}  // namespace orange
