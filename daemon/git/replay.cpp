#include "daemon/git/replay.hpp"

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/committer.hpp"
#include "daemon/git/merge.hpp"

/// `git merge-tree` takes a merge base only since git 2.40. So a merge with a given base is that of two commits which
/// are made for it: with the files of the two sides, on a commit with the files of the base.
namespace orange::git {
namespace {

constexpr std::size_t k_most_commits = 100;

/// Makes a commit with the files of another one; `parent` may be empty. It is the same each time, so that repeated
/// tries leave no more objects.
Awaitable<Result<std::string>> twin_of(Git& git, std::string repo, std::string commit, std::string parent) {
    auto args = words("commit-tree", commit + "^{tree}", "-m", "_");
    if (!parent.empty()) args.insert(args.end(), {"-p", parent});
    std::map<std::string, std::string> nobody;
    for (const std::string who : {"GIT_AUTHOR_", "GIT_COMMITTER_"}) {
        nobody.insert({{who + "NAME", "orange"}, {who + "EMAIL", "orange"}, {who + "DATE", "@0 +0000"}});
    }
    const std::string none;
    CO_TRY(const auto made, co_await ask_inside(git, repo, std::move(args), none, std::move(nobody)));
    co_return hash_in("git commit-tree", made);
}

/// Returns the tree of `ours` with the changes from `base` to `theirs`.
Awaitable<Result<std::string>> tree_with(Git& git, MergeRequest request, std::string base, std::string ours,
                                         std::string theirs) {
    const std::string none;
    CO_TRY(const auto below, co_await twin_of(git, request.repo, std::move(base), none));
    CO_TRY(const auto onto, co_await twin_of(git, request.repo, std::move(ours), below));
    CO_TRY(request.tip, co_await twin_of(git, request.repo, std::move(theirs), below));
    const std::string message = "_\n";
    CO_TRY(const auto merged, co_await build_merge(git, request, MergeStrategy::squash, onto, message));
    co_return co_await tree_of(git, request.repo, merged);
}

/// Makes a commit of the tree on `parent`, with the author and the message of `like`.
Awaitable<Result<std::string>> copy_of(Git& git, std::string repo, std::string like, std::string tree,
                                       std::string parent) {
    CO_TRY(const auto said, co_await ask(git, repo,
                                         words("log", "-1", "--no-show-signature", "--date=raw",
                                               "--format=%an%x00%ae%x00%ad%x00%B", like, "--")));
    const auto parts = split(said, '\0');
    if (parts.size() != 4) co_return unexpected_output("git log", said);
    CO_TRY(auto who, co_await identity(git, repo));
    who["GIT_AUTHOR_NAME"] = std::string(parts[0]);
    who["GIT_AUTHOR_EMAIL"] = std::string(parts[1]);
    who["GIT_AUTHOR_DATE"] = "@" + std::string(parts[2]);
    auto message = std::string(trim(parts[3])) + "\n";
    CO_TRY(const auto made, co_await ask_inside(git, repo, words("commit-tree", tree, "-F", "-", "-p", parent),
                                                std::move(message), std::move(who)));
    co_return hash_in("git commit-tree", made);
}

/// Makes the commits again one by one. An Error does not mean that the changes cannot be made at once.
Awaitable<Result<std::string>> one_by_one(Git& git, const Replay& what) {
    const auto& repo = what.request.repo;
    CO_TRY(const auto listed, co_await ask(git, repo,
                                           words("rev-list", "--reverse", "--topo-order", "--no-merges",
                                                 what.request.tip, "^" + what.from, "^" + what.onto, "--")));
    const auto commits = split_lines(listed);
    if (commits.size() > k_most_commits) co_return Error(ErrorCode::conflict, "there are too many commits");
    auto at = what.onto;
    CO_TRY(auto before, co_await tree_of(git, repo, at));
    for (const auto line : commits) {
        const std::string commit(line);
        CO_TRY(const auto tree, co_await tree_with(git, what.request, commit + "^", at, commit));
        if (tree == before) continue;  // `onto` has the change
        CO_TRY(at, co_await copy_of(git, repo, commit, tree, at));
        before = tree;
    }
    co_return at;
}

Awaitable<Result<std::string>> counts_between(Git& git, std::string repo, Range range) {
    co_return co_await ask(git, std::move(repo),
                           words("diff", "--numstat", "--summary", "--no-renames", "--no-ext-diff", "--no-textconv",
                                 "--ignore-submodules=none", range.from, range.to, "--"));
}

Awaitable<Result<std::string>> patch_id(Git& git, std::string repo, Range range) {
    CO_TRY(auto patch,
           co_await ask(git, repo,
                        words("diff", "--unified=3", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv",
                              "--submodule=short", "--ignore-submodules=none", range.from, range.to, "--")));
    auto args = words("patch-id", "--verbatim");
    CO_TRY(const auto id, co_await ask_inside(git, std::move(repo), std::move(args), std::move(patch)));
    co_return std::string(id.substr(0, id.find(' ')));
}

}  // namespace

Awaitable<Result<std::string>> replay(Git& git, Replay what) {
    const auto& repo = what.request.repo;
    CO_TRY(const auto whole, co_await tree_with(git, what.request, what.from, what.onto, what.request.tip));
    const auto again = co_await one_by_one(git, what);
    if (again) {
        CO_TRY(const auto tree, co_await tree_of(git, repo, *again));
        if (tree == whole) co_return *again;
    }
    CO_TRY(auto who, co_await identity(git, repo));
    auto message = what.message;
    auto args = words("commit-tree", whole, "-F", "-", "-p", what.onto);
    CO_TRY(const auto made, co_await ask_inside(git, repo, std::move(args), std::move(message), std::move(who)));
    co_return hash_in("git commit-tree", made);
}

Awaitable<Result<bool>> is_same_patch(Git& git, std::string repo, Range before, Range after) {
    CO_TRY(const auto counts, co_await counts_between(git, repo, before));
    CO_TRY(const auto other, co_await counts_between(git, repo, after));
    const bool has_binary = counts.starts_with("-\t-") || counts.find("\n-\t-") != std::string::npos;
    if (counts != other || has_binary) co_return false;
    CO_TRY(const auto id, co_await patch_id(git, repo, std::move(before)));
    CO_TRY(const auto now, co_await patch_id(git, repo, std::move(after)));
    co_return id == now;
}

Awaitable<Result<void>> reset_here(Git& git, Pinned worktree, std::string commit) {
    GitCommand command{worktree,
                       words("-c", "submodule.recurse=false", "reset", "--quiet", "--keep", std::move(commit), "--")};
    command.deadline = k_checkout_deadline;
    if (worktree.is_walled()) command.env["GIT_NO_LAZY_FETCH"] = "1";
    const auto shown = worktree.path();
    auto done = co_await git_output(git, std::move(command));
    if (!done) co_return with_remedy(done.error(), shown);
    co_return Result<void>{};
}

}  // namespace orange::git
