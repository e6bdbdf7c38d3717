#include <fcntl.h>

#include <memory>
#include <optional>

#include "common/base/ids.hpp"
#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/nested.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/submodules.hpp"
#include "daemon/git/worktrees.hpp"

/// Keeps the work that a snapshot of the files does not contain: commits that no branch has, repositories inside the
/// worktree, and stashes.
namespace orange::git {
namespace {

constexpr int k_most_levels_kept = 8;                            ///< of repositories in repositories
constexpr std::size_t k_longest_shallow = std::size_t{1} << 20;  ///< bytes

/// Keeps HEAD's commit under a ref of Orange's if no other ref has it.
Awaitable<Result<void>> keep_head(Git& git, Pinned worktree, std::string below, std::vector<std::string>& kept) {
    CO_TRY(const auto head, co_await commit_of(git, worktree, "HEAD"));
    if (head.empty()) co_return Result<void>{};  // an orphan branch without a commit
    // refs/bisect and refs/worktree do not count: git deletes them together with the worktree.
    CO_TRY(const auto holders,
           co_await ask_inside(git, worktree,
                               words("for-each-ref", "--count=1", "--format=%(refname)", "--contains", head,
                                     "refs/heads", "refs/remotes", "refs/tags", "refs/orange")));
    if (!trim(holders).empty()) co_return Result<void>{};
    const auto ref = below + "/head-" + head.substr(0, 12);
    CO_TRY(co_await ask_inside(git, worktree, words("update-ref", "-m", "orange: release", ref, head)));
    kept.push_back(ref);
    co_return Result<void>{};
}

/// Saves the uncommitted work of the nested repository under a ref of its own, which is fetched with its other refs.
/// Does nothing if that repository lies elsewhere, as a whole or by a link: Orange must not write there.
Awaitable<Result<void>> snapshot_nested(Git& git, Nested nested) {
    if (!nested.is_whole) co_return Result<void>{};
    CO_TRY(const auto head, co_await commit_of(git, *nested.repository, "HEAD"));
    if (head.empty() && !nested.is_submodule())
        co_return Result<void>{};  // absorb() makes its files the worktree's own
    WorktreeStatus unknown;        // g++ 12 destroys a default argument of a co_await expression twice
    CO_TRY(co_await snapshot(git, *nested.repository, "refs/orange/wip", "Uncommitted work", std::move(unknown)));
    co_return Result<void>{};
}

/// A fetch gets only the last entry of a stash, so each entry becomes a ref.
Awaitable<Result<void>> name_stashes(Git& git, Pinned repository) {
    CO_TRY(const auto listed, co_await ask_inside(git, repository, words("stash", "list", "-z", "--format=%H")));
    for (const auto& commit : pieces(listed)) {
        const auto ref = "refs/orange/stash-" + commit.substr(0, 12);
        CO_TRY(co_await ask_inside(git, repository, words("update-ref", "-m", "orange: release", ref, commit)));
    }
    co_return Result<void>{};
}

constexpr const char* k_here = "./.";  ///< to git, "." is the repository that fetches

/// A submodule's core.worktree names the folder of its files, and git makes no pack if that folder no longer exists.
constexpr const char* k_upload_pack = "--upload-pack=GIT_WORK_TREE=. git-upload-pack";

/// A repository whose work is saved in refs of the worktree's repository.
struct Source {
    Pinned outer;  ///< the worktree's git, run in the folder of the source
    std::optional<Pinned>
        repository;  ///< nothing if it lies elsewhere: then only the commit that its HEAD is at can be lost
    bool is_whole = false;
    bool is_submodule = false;  ///< commits that its remotes have need not be kept
};

/// Returns true if a submodule has commits that none of its remotes has.
Awaitable<Result<bool>> has_own_work(Git& git, Pinned repository) {
    CO_TRY(const auto head, co_await commit_of(git, repository, "HEAD"));
    auto args = words("rev-list", "--max-count=1", "--branches", "--glob=refs/orange", "--glob=refs/stash");
    if (!head.empty()) args.push_back(head);
    args.insert(args.end(), {"--not", "--remotes", "--"});
    CO_TRY(const auto found, co_await ask_inside(git, repository, std::move(args)));
    co_return !trim(found).empty();
}

/// Fetches the commits of `source` into the worktree's repository, below a ref named after their content.
Awaitable<Result<void>> fetch_from(Git& git, Source source, std::string below, std::vector<std::string>& kept) {
    const auto& repository = source.repository;
    if (repository && source.is_whole) CO_TRY(co_await name_stashes(git, *repository));
    if (repository && source.is_submodule) {
        CO_TRY(const auto has_work, co_await has_own_work(git, *repository));
        if (!has_work) co_return Result<void>{};
    }
    CO_TRY(const auto refs, co_await ask_inside(git, source.outer, words("ls-remote", "--quiet", "--", k_here)));
    if (trim(refs).empty()) co_return Result<void>{};
    // A repeated attempt for the same repository uses the same ref.
    const auto ref = below + "/nested-" + sha256(source.outer.path() + "\n" + refs).substr(0, 40);
    auto args = words("-c", "protocol.file.allow=always", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
                      "--no-auto-maintenance", "--no-recurse-submodules", k_upload_pack);
    if (repository && small_file_at(repository->admin(), "shallow", k_longest_shallow)) {
        args.emplace_back("--update-shallow");
    }
    args.insert(args.end(), {"--", k_here});
    const auto get = [&](const std::string& part) { args.push_back("+refs/" + part + ":" + ref + "/" + part); };
    if (repository && source.is_submodule) {
        get("heads/*");
        get("orange/*");
    } else if (repository) {
        args.push_back("+refs/*:" + ref + "/*");
    }
    if (refs.find("\tHEAD\n") != std::string::npos) args.push_back("+HEAD:" + ref + "/HEAD");
    CO_TRY(co_await ask_inside(git, source.outer, std::move(args)));
    kept.push_back(ref);
    co_return Result<void>{};
}

/// Keeps the commits of all submodules of a repository, recursively. `top`: the worktree.
Awaitable<Result<void>> keep_modules(Git& git, Pinned top, Pinned repository, std::string below, int levels,
                                     std::vector<std::string>& kept) {
    if (levels == 0) co_return Result<void>{};
    CO_TRY(const auto modules, modules_of(repository));
    for (const auto& module : modules) {
        const auto& own = module.repository;
        Source source{top.from(own.path(), own.folder()), own, module.is_whole, true};
        CO_TRY(co_await fetch_from(git, std::move(source), below, kept));
        CO_TRY(co_await keep_modules(git, top, own, below, levels - 1, kept));
    }
    co_return Result<void>{};
}

/// Keeps the commits of the nested repository in refs, and removes its .git, so that its files become the worktree's
/// own.
Awaitable<Result<void>> absorb(Git& git, Pinned top, Nested nested, std::string below, int levels,
                               std::vector<std::string>& kept) {
    CO_TRY(co_await snapshot_nested(git, nested));
    if (nested.repository) CO_TRY(co_await keep_modules(git, top, *nested.repository, below, levels, kept));
    Source source{top.from(nested.outer.path(), nested.outer.folder()), nested.repository, nested.is_whole, false};
    CO_TRY(co_await fetch_from(git, std::move(source), below, kept));
    co_return remove_git_of(git, nested);
}

Awaitable<Result<void>> keep_inside(Git& git, Pinned top, Pinned at, std::string below, int levels,
                                    std::vector<std::string>& kept);

/// Keeps the uncommitted work of a submodule. If the submodule is a module of the worktree, keep_modules() keeps its
/// commits.
Awaitable<Result<void>> keep_submodule(Git& git, Pinned top, Nested nested, std::string below, int levels,
                                       std::vector<std::string>& kept) {
    if (nested.repository) {
        CO_TRY(co_await keep_inside(git, top, *nested.repository, below, levels, kept));
        CO_TRY(co_await snapshot_nested(git, nested));
        if (nested.is_module) co_return Result<void>{};
        CO_TRY(co_await keep_modules(git, top, *nested.repository, below, levels, kept));
    }
    Source source{top.from(nested.outer.path(), nested.outer.folder()), nested.repository, nested.is_whole, true};
    co_return co_await fetch_from(git, std::move(source), below, kept);
}

/// Keeps the work of the repositories inside `at`, which is the worktree `top` or a submodule of it. Submodules stay as
/// they are; all other repositories become plain files.
Awaitable<Result<void>> keep_inside(Git& git, Pinned top, Pinned at, std::string below, int levels,
                                    std::vector<std::string>& kept) {
    if (levels == 0) co_return Result<void>{};
    // An absorbed repository uncovers those that were inside it, so look again, up to a limit against endless nesting.
    for (int depth = 0; depth < k_most_levels_kept; ++depth) {
        CO_TRY(const auto inside, co_await repositories_inside(git, at));
        bool absorbed = false;
        for (const auto& each : inside) {
            CO_TRY(const auto nested, open_nested(at, each));
            auto done = Result<void>{};
            if (!nested.is_submodule()) {
                absorbed = true;
                done = co_await absorb(git, top, nested, below, levels - 1, kept);
            } else if (depth == 0) {
                done = co_await keep_submodule(git, top, nested, below, levels - 1, kept);
            }
            if (!done) co_return keeping_failed(nested.outer.path(), done.error());
        }
        if (!absorbed) break;
    }
    co_return Result<void>{};
}

}  // namespace

Awaitable<Result<std::vector<std::string>>> keep_commits(Git& git, Pinned worktree, std::string below,
                                                         WorktreeStatus standing) {
    std::vector<std::string> kept;
    if (!standing.is_held) CO_TRY(co_await keep_head(git, worktree, below, kept));
    if (worktree.is_walled()) co_return kept;
    if (standing.known && !standing.may_hold_repositories && !has_modules(worktree)) co_return kept;
    CO_TRY(co_await keep_inside(git, worktree, worktree, below, k_most_levels_kept, kept));
    CO_TRY(co_await keep_modules(git, worktree, worktree, below, k_most_levels_kept, kept));
    co_return kept;
}

Awaitable<Result<std::vector<std::string>>> keep_commits_of_missing(Git& git, std::string common_dir, std::string admin,
                                                                    std::string below) {
    std::vector<std::string> kept;
    const auto path = common_dir + "/worktrees/" + admin;
    if (!is_folder_at(AT_FDCWD, path)) co_return kept;
    CO_TRY(auto opened, open_folder(path));
    const auto folder = Pinned::hold(std::move(opened));
    const Pinned own(path, path, common_dir, folder, folder);
    CO_TRY(co_await keep_head(git, own, below, kept));
    CO_TRY(co_await keep_modules(git, own, own, below, k_most_levels_kept, kept));
    co_return kept;
}

Awaitable<Result<std::vector<std::string>>> keep_stashes(Git& git, Pinned worktree, std::string below) {
    std::vector<std::string> kept;
    CO_TRY(const auto branch, co_await current_branch(git, worktree));
    if (branch.empty()) co_return kept;
    CO_TRY(const auto listed, co_await ask_inside(git, worktree, words("stash", "list", "-z", "--format=%H %gs")));
    const auto last =
        branch.substr(branch.rfind('/') + 1);  // git before 2.37 records only this part of the branch's name
    for (const auto& entry : pieces(listed)) {
        const auto commit = entry.substr(0, entry.find(' '));
        const auto was_on = [&](const std::string& name) {
            return entry.starts_with(commit + " WIP on " + name + ": ") ||
                   entry.starts_with(commit + " On " + name + ": ");
        };
        if (!was_on(branch) && !was_on(last)) continue;
        const auto ref = below + "/stash-" + commit.substr(0, 12);
        CO_TRY(const auto there, co_await commit_of(git, worktree, ref));
        if (there == commit) continue;
        CO_TRY(co_await ask_inside(git, worktree, words("update-ref", "-m", "orange: release", ref, commit)));
        kept.push_back(ref);
    }
    co_return kept;
}

}  // namespace orange::git
