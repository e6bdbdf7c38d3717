#include "daemon/git/merge.hpp"

#include <algorithm>
#include <set>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/committer.hpp"
#include "daemon/git/refs.hpp"

/// The part before a merge: finds the commits, chooses the base, and checks whether the work is merged already.
namespace orange::git {
namespace {

/// The limit up to which the commits of a rebased branch are compared one by one with later reverts.
constexpr std::size_t k_most_undone = 50;

Error no_branch(const std::string& branch) {
    return {ErrorCode::not_found,
            "there is no branch " + printable(branch) +
                ". If the task's branch was renamed with git, run in its workspace:\n  orange task update --branch"};
}

/// Returns the commit of the local branch, or else of origin's; empty if there is neither.
std::string commit_in(const Refs& known, const std::string& branch) {
    for (const auto& name : refs_of_branch(branch)) {
        const auto found = known.find(name);
        if (found != known.end()) return found->second.commit;
    }
    return {};
}

Error diverged(const MergeRequest& request) {
    const auto name = printable(request.target);
    return {ErrorCode::conflict, name + " and origin's " + name +
                                     " have diverged. Bring them together first:\n  git -C " +
                                     shell_word(request.repo) + " pull --rebase origin " + shell_word(request.target)};
}

/// Lists the commits of `range` in git's order.
Awaitable<Result<std::vector<std::string>>> commits_of(Git& git, std::string repo, std::vector<std::string> range) {
    auto args = words("rev-list");
    args.insert(args.end(), range.begin(), range.end());
    CO_TRY(const auto listed, co_await ask(git, std::move(repo), std::move(args)));
    std::vector<std::string> commits;
    for (const auto line : split_lines(listed)) commits.emplace_back(line);
    co_return commits;
}

Awaitable<Result<int>> count_of(Git& git, std::string repo, std::vector<std::string> range) {
    CO_TRY(const auto commits, co_await commits_of(git, std::move(repo), std::move(range)));
    co_return static_cast<int>(commits.size());
}

/// Returns the newest commit of the local target below which every commit that origin does not have is a merge that
/// Orange made with --no-push; empty if there is none.
std::string own_unpushed(const std::map<std::string, std::string>& unpushed, const std::vector<std::string>& ahead) {
    const std::set<std::string> missing(ahead.begin(), ahead.end());
    for (const auto& commit : ahead) {
        auto below = commit;
        while (missing.contains(below)) {
            const auto found = unpushed.find(below);
            if (found == unpushed.end() || found->second.empty()) break;
            below = found->second;
        }
        if (!missing.contains(below)) return commit;
    }
    return {};
}

/// Chooses the base of a merge that is pushed if the local target has commits that origin does not have.
Awaitable<Result<void>> leave_out_unpushed(Git& git, const MergeRequest& request, MergeView& view) {
    const auto unpushed = view.remote + ".." + view.local;
    CO_TRY(const auto ahead, co_await contains(git, request.repo, view.local, view.remote));
    if (request.include_unpushed && !ahead) co_return diverged(request);
    view.base = request.include_unpushed ? view.local : view.remote;
    if (ahead && !request.include_unpushed) {
        // If the user merged exactly this branch by hand, that merge is pushed.
        CO_TRY(const auto others,
               co_await count_of(git, request.repo, words("--no-merges", unpushed, "^" + request.tip)));
        CO_TRY(const auto merged, co_await contains(git, request.repo, view.local, request.tip));
        CO_TRY(const auto chain, co_await commits_of(git, request.repo, words("--first-parent", unpushed)));
        const auto own = own_unpushed(request.unpushed, chain);
        CO_TRY(const auto on_top, co_await has_commit(git, request.repo, own, view.remote));
        if (on_top) view.base = own;
        if (others == 0 && merged) view.base = view.local;
    }
    co_return Result<void>{};
}

Awaitable<Result<void>> choose_base(Git& git, const MergeRequest& request, MergeView& view) {
    view.base = view.remote.empty() ? view.local : view.remote;
    if (view.base.empty()) {
        co_return Error(ErrorCode::not_found, "there is no branch " + printable(request.target));
    }
    if (view.local.empty() || view.remote.empty() || view.local == view.remote) co_return Result<void>{};
    CO_TRY(const auto behind, co_await contains(git, request.repo, view.remote, view.local));
    if (behind) co_return Result<void>{};
    if (request.push) co_return co_await leave_out_unpushed(git, request, view);
    CO_TRY(const auto ahead, co_await contains(git, request.repo, view.local, view.remote));
    if (!ahead) co_return diverged(request);
    view.base = view.local;
    co_return Result<void>{};
}

/// True for a commit of `rev-list --cherry-mark` whose changes the other side has, too.
bool is_equivalent(const std::string& marked) {
    return marked.starts_with('=');
}

/// Returns true if git finds, for each commit of `left` that is not in `right`, an equivalent one in `right`.
Awaitable<Result<bool>> all_equivalent(Git& git, std::string repo, std::string left, std::string right) {
    CO_TRY(const auto marked,
           co_await commits_of(git, repo, words("--cherry-mark", "--left-only", "--no-merges", left + "..." + right)));
    co_return !marked.empty() && std::ranges::all_of(marked, is_equivalent);
}

/// Makes a commit with the files of `like` on top of `parent`, for comparison only; no ref points to it.
Awaitable<Result<std::string>> commit_with_tree_of(Git& git, std::string repo, std::string like, std::string parent) {
    CO_TRY(auto who, co_await identity(git, repo));
    CO_TRY(const auto made,
           co_await ask_inside(git, repo, words("commit-tree", like + "^{tree}", "-p", parent, "-m", "_"), "",
                               std::move(who)));
    co_return hash_in("git commit-tree", made);
}

/// Returns the newest commit of `right` that is equivalent to a commit of `left`.
Awaitable<Result<std::string>> equivalent_in(Git& git, std::string repo, std::string left, std::string right) {
    CO_TRY(const auto marked,
           co_await commits_of(git, repo, words("--cherry-mark", "--right-only", "--no-merges", left + "..." + right)));
    const auto found = std::ranges::find_if(marked, is_equivalent);
    co_return found == marked.end() ? std::string() : found->substr(1);
}

/// Returns true if merging `tip` into `commit` changes nothing. Git also counts patches as equivalent that differ in
/// whitespace or in the place where they apply, so equivalent patches alone prove nothing.
Awaitable<Result<bool>> has_all_of(Git& git, std::string repo, std::string commit, std::string tip) {
    CO_TRY(const auto merged, co_await attempt(git, repo, words("merge-tree", "--write-tree", commit, tip)));
    CO_TRY(const auto tree, co_await tree_of(git, repo, commit));
    co_return merged.ok() && trim(merged.out) == tree;
}

/// Makes commits that revert `base..tip` on top of the tip: the commits one after the other, and all of them at once.
Awaitable<Result<std::vector<std::string>>> undone(Git& git, std::string repo, std::string base, std::string tip) {
    std::vector<std::string> all;
    CO_TRY(auto trees, co_await commits_of(git, repo, words("--first-parent", base + ".." + tip)));
    if (trees.size() > k_most_undone) trees.resize(1);
    trees.push_back(base);
    auto above = tip;
    for (std::size_t i = 1; i < trees.size(); ++i) {
        CO_TRY(above, co_await commit_with_tree_of(git, repo, trees[i], above));
    }
    all.push_back(above);
    if (trees.size() > 2) {
        CO_TRY(const auto whole, co_await commit_with_tree_of(git, repo, base, tip));
        all.push_back(whole);
    }
    co_return all;
}

/// Returns true if `target` has a commit that reverts the work after it was merged: then the work is missing.
Awaitable<Result<bool>> was_reverted(Git& git, std::string repo, std::string base, std::string target,
                                     std::string tip) {
    CO_TRY(const auto inverse, co_await undone(git, repo, std::move(base), tip));
    for (const auto& commit : inverse) {
        CO_TRY(const auto marked, co_await commits_of(git, repo,
                                                      words("--cherry-mark", "--left-only", "--no-merges",
                                                            commit + "..." + target, "^" + tip)));
        if (std::ranges::any_of(marked, is_equivalent)) co_return true;
    }
    co_return false;
}

/// Returns the first commit on the first-parent line of `target` that contains `tip`.
Awaitable<Result<std::string>> brought_by(Git& git, std::string repo, std::string target, std::string tip) {
    CO_TRY(const auto line,
           co_await commits_of(git, repo, words("--first-parent", "--ancestry-path", tip + ".." + target)));
    if (line.empty()) co_return tip;
    auto oldest = line.back();
    CO_TRY(const auto forwarded, co_await has_commit(git, repo, oldest + "^1", tip));
    co_return forwarded ? tip : oldest;
}

/// Returns the newest commit of `target` with the same patch as the branch's last commit, or as all its commits
/// together.
Awaitable<Result<std::string>> rebased_or_squashed(Git& git, std::string repo, std::string base, std::string target,
                                                   std::string tip) {
    CO_TRY(const auto merges, co_await count_of(git, repo, words("--merges", target + ".." + tip)));
    if (merges == 0) {  // the changes that a merge commit itself makes are in no patch
        CO_TRY(const auto rebased, co_await all_equivalent(git, repo, tip, target));
        if (rebased) co_return co_await equivalent_in(git, repo, tip, target);
    }
    CO_TRY(const auto whole, co_await commit_with_tree_of(git, repo, tip, base));
    co_return co_await equivalent_in(git, repo, whole, target);
}

}  // namespace

Awaitable<Result<bool>> has_commit(Git& git, std::string repo, std::string ref, std::string commit) {
    if (ref.empty() || commit.empty()) co_return false;
    CO_TRY(const auto asked, co_await attempt(git, repo, words("merge-base", "--is-ancestor", commit, ref)));
    if (asked.exit_status <= 1) co_return asked.exit_status == 0;
    // Either one of them does not exist, or git has failed.
    for (const auto* name : {&ref, &commit}) {
        CO_TRY(const auto there, co_await commit_of(git, repo, *name));
        if (there.empty()) co_return false;
    }
    co_return co_await contains(git, repo, ref, commit);
}

Awaitable<Result<std::string>> branch_tip(Git& git, std::string repo, std::string branch) {
    auto names = refs_of_branch(branch);
    CO_TRY(const auto known, co_await refs(git, std::move(repo), std::move(names)));
    auto tip = commit_in(known, branch);
    if (tip.empty()) co_return no_branch(branch);
    co_return tip;
}

Awaitable<Result<MergeView>> inspect_merge(Git& git, const MergeRequest& request) {
    MergeView view;
    auto origin = request.has_origin;
    if (!origin) {
        CO_TRY(origin, co_await has_origin(git, request.repo));
    }
    auto names = refs_of_branch(request.target);
    for (auto& name : refs_of_branch(request.branch)) names.push_back(std::move(name));
    CO_TRY(const auto known, co_await refs(git, request.repo, std::move(names)));
    const auto local = known.find(std::string(k_heads) + request.target);
    const auto remote = known.find(std::string(k_origin) + request.target);
    if (local != known.end()) view.local = local->second.commit;
    if (*origin && remote != known.end()) view.remote = remote->second.commit;
    view.tip = commit_in(known, request.branch);
    CO_TRY(co_await choose_base(git, request, view));
    co_return view;
}

Awaitable<Result<std::string>> tree_of(Git& git, std::string repo, std::string commit) {
    CO_TRY(const auto said, co_await ask(git, repo, words("rev-parse", "--verify", "--quiet", commit + "^{tree}")));
    co_return hash_in("git rev-parse", said);
}

Awaitable<Result<bool>> was_made_on(Git& git, std::string repo, std::string branch, std::string commit) {
    CO_TRY(const auto logged, co_await attempt(git, repo,
                                               words("log", "--walk-reflogs", "--no-show-signature", "--format=%H %gs",
                                                     std::string(k_heads) + branch, "--")));
    if (!logged.ok()) co_return false;  // there is no such branch
    for (auto line : split_lines(logged.out)) {
        if (!line.starts_with(commit + " ")) continue;
        line.remove_prefix(commit.size() + 1);
        for (const std::string_view made : {"commit", "rebase", "cherry-pick", "revert", "am", "pull --rebase"}) {
            // The reflog entry "rebase (finish): refs/heads/x onto <commit>" only moves a branch that has no commits of
            // its own.
            if (line.starts_with(made) && line.find(commit) == std::string_view::npos) co_return true;
        }
        if (line.starts_with("merge ") && line.ends_with(" strategy.")) co_return true;
    }
    co_return false;
}

Awaitable<Result<std::string>> find_elsewhere(Git& git, std::string repo, std::string target, std::string tip) {
    CO_TRY(const auto related, co_await attempt(git, repo, words("merge-base", target, tip)));
    if (related.exit_status == 1) co_return std::string();
    const auto base = std::string(trim(related.out));
    if (base == tip) co_return co_await brought_by(git, repo, target, tip);
    if (related.ok() && base == target) co_return std::string();  // the target has no commits since
    CO_TRY(const auto changes, co_await attempt(git, repo, words("diff", "--quiet", "--no-ext-diff", base, tip)));
    if (!related.ok() || changes.exit_status > 1) {
        co_return command_failed(words("git", "merge-base", target, tip), related.ok() ? changes : related);
    }
    // Empty commits are all equivalent to each other, so they prove nothing.
    if (changes.ok()) co_return std::string();
    auto brought = co_await rebased_or_squashed(git, repo, base, target, tip);
    if (!brought || brought->empty()) co_return brought;
    CO_TRY(const auto whole, co_await has_all_of(git, repo, *brought, tip));
    if (!whole) co_return std::string();
    CO_TRY(const auto reverted, co_await was_reverted(git, repo, base, target, tip));
    if (reverted) brought->clear();
    co_return brought;
}

}  // namespace orange::git
