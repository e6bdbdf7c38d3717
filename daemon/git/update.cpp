#include "daemon/git/update.hpp"

#include <filesystem>

#include "common/base/shown_path.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/committer.hpp"
#include "daemon/git/nested.hpp"
#include "daemon/git/worktree_status.hpp"

namespace orange::git {
namespace {

Awaitable<Result<Completed>> run_merge(Git& git, Pinned worktree, std::string branch, std::string commit,
                                       std::string message) {
    GitCommand command{worktree, words("merge", "--quiet", "--ff", "--commit", "--no-squash", "--no-autostash",
                                       "--no-edit", "-m", std::move(message), std::move(commit))};
    command.deadline = k_checkout_deadline;
    CO_TRY(command.env, co_await identity(git, worktree));
    // The repository may set merge options for this branch ("-s ours"), which Orange must not use.
    command.env["GIT_CONFIG_COUNT"] = "1";
    command.env["GIT_CONFIG_KEY_0"] = "branch." + branch + ".mergeOptions";
    command.env["GIT_CONFIG_VALUE_0"] = "";
    if (worktree.is_walled()) {
        const std::map<std::string, std::string> own_index;
        CO_TRY(const auto submodules, co_await submodules_in_index(git, worktree, own_index));
        // A merge of two commits of a submodule reads its repository, whose configuration may name a program to fetch
        // missing objects with.
        if (!submodules.empty()) command.env["GIT_NO_LAZY_FETCH"] = "1";
    }
    co_return co_await git.run(std::move(command));
}

/// Returns true if a tracked file differs from HEAD, staged or not.
Awaitable<Result<bool>> has_edits(Git& git, Pinned worktree) {
    auto args = words("diff", "--quiet", "--no-ext-diff");
    if (worktree.is_walled()) args.push_back(submodules_option(worktree));
    args.emplace_back("HEAD");
    CO_TRY(const auto compared, co_await attempt(git, worktree, std::move(args)));
    if (compared.exit_status > 1) co_return command_failed(words("git", "diff", "HEAD"), compared);
    co_return compared.exit_status == 1;
}

/// Returns true if something is at `path` in the worktree, or if a file has the name of one of its folders.
bool is_occupied(const std::filesystem::path& worktree, const std::filesystem::path& path) {
    std::error_code error;
    auto at = worktree;
    for (const auto& part : path) {
        at /= part;
        const auto status = std::filesystem::symlink_status(at, error);
        if (!std::filesystem::exists(status)) return false;
        if (!std::filesystem::is_directory(status)) return true;
    }
    return true;
}

/// Returns files that `commit` adds to HEAD and whose path is occupied.
Awaitable<Result<std::vector<std::string>>> files_in_the_way(Git& git, Pinned worktree, std::string commit) {
    CO_TRY(const auto added, co_await ask(git, worktree,
                                          words("diff", "--name-only", "--no-renames", "--no-ext-diff",
                                                "--diff-filter=A", "-z", "HEAD", commit)));
    std::vector<std::string> found;
    for (const auto& path : pieces(added)) {
        if (is_occupied(worktree.path(), path)) found.push_back(path);
    }
    co_return found;
}

}  // namespace

Awaitable<Result<std::string>> merge_here(Git& git, Pinned worktree, std::string branch, std::string commit,
                                          std::string message) {
    CO_TRY(const auto merged, co_await run_merge(git, worktree, std::move(branch), commit, std::move(message)));
    if (merged.ok()) {
        CO_TRY(const auto head, co_await ask(git, worktree, words("rev-parse", "--verify", "HEAD^{commit}")));
        co_return std::string(trim(head));
    }
    auto args = words("diff", "--name-only", "--diff-filter=U", "-z");
    if (worktree.is_walled()) args.push_back(submodules_option(worktree));
    CO_TRY(const auto listed, co_await ask(git, worktree, std::move(args)));
    const auto files = pieces(listed);
    if (files.empty()) {
        co_return with_remedy(command_failed(words("git", "merge", commit), merged), worktree.path());
    }
    co_return Error(ErrorCode::conflict, counted(files.size(), "file") + " in conflict",
                    {{"files", join(shown_paths(files), "\n")}});
}

Awaitable<Result<std::string>> head_to_merge_into(Git& git, Pinned worktree, std::string branch, std::string commit) {
    CO_TRY(auto standing, co_await worktree_status(git, worktree));
    if (standing.branch != branch) co_return Error(ErrorCode::conflict, "is not on branch " + printable(branch));
    CO_TRY(check_branch_files(worktree.common_dir(), branch));
    if (!standing.clean && !standing.only_files) {
        co_return Error(ErrorCode::conflict, "has staged changes or an unfinished git operation");
    }
    CO_TRY(const bool edits, co_await has_edits(git, worktree));
    if (edits) co_return Error(ErrorCode::conflict, "has uncommitted changes");
    CO_TRY(const auto in_the_way, co_await files_in_the_way(git, worktree, commit));
    if (!in_the_way.empty()) {
        co_return Error(ErrorCode::conflict, "has files that git does not track and the merge would overwrite: " +
                                                 ellipsized(join(shown_paths(in_the_way), ", "), 200));
    }
    co_return std::move(standing.head);
}

}  // namespace orange::git
