#include "daemon/git/merge.hpp"

#include <algorithm>
#include <filesystem>

#include "common/base/text.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/checkout.hpp"

/// A merge in four steps, of which each can fail and leave everything as it was: find the base, make the commit (in a
/// private worktree; an unreferenced object until the end), look whether it can be put in place, publish. Publishing is
/// origin first: what a push refused must not be in the local branch either. Only when origin has it and the local
/// branch then cannot follow is there a half: that is a merge, with a note for the human.
///
/// The repository is locked from the look at its refs to the finished commit, and again to move the branch; not while
/// origin is fetched from and pushed to.
namespace orange::git {
namespace {

constexpr auto k_network_deadline = std::chrono::seconds(120);

/// Where everything is before the merge; empty: there is no such ref.
struct Situation {
    std::string tip;
    std::string local, remote;  ///< of the default branch
    std::string base;           ///< that one of the two which contains the other
    bool origin = false;
};

Awaitable<Result<void>> find_base(Git& git, const MergeRequest& request, Situation& now) {
    now.base = now.remote.empty() ? now.local : now.remote;
    if (now.base.empty()) {
        co_return Error{ErrorCode::not_found, "there is no branch " + printable(request.default_branch), {}};
    }
    if (now.local.empty() || now.remote.empty() || now.local == now.remote) co_return Result<void>{};
    const auto behind = co_await contains(git, request.repo, now.remote, now.local);
    if (!behind) co_return behind.error();
    if (*behind) co_return Result<void>{};
    const auto ahead = co_await contains(git, request.repo, now.local, now.remote);
    if (!ahead) co_return ahead.error();
    if (!*ahead) {
        const auto name = printable(request.default_branch);
        co_return Error{ErrorCode::conflict,
                        name + " and origin's " + name + " have diverged: bring them together first (git pull)",
                        {}};
    }
    now.base = now.local;
    co_return Result<void>{};
}

/// What is to be known before the repository is locked: whether there is an origin, and what it has.
Awaitable<Result<bool>> fetched_origin(Git& git, const MergeRequest& request) {
    if (request.branch == request.default_branch) {
        co_return Error{
            ErrorCode::invalid_argument, "branch " + printable(request.branch) + " is the default branch itself", {}};
    }
    for (const auto& branch : {request.branch, request.default_branch}) {
        if (auto good = co_await check_branch_name(git, branch); !good) co_return good.error();
    }
    const auto origin = co_await has_origin(git, request.repo);
    if (!origin || !*origin) co_return origin;
    // Not knowing where origin is, nothing can be said about the merge.
    const std::chrono::milliseconds deadline = k_network_deadline;
    auto fetched = co_await fetch(git, request.repo, deadline);
    if (!fetched) co_return in_context("fetching from origin before the merge", fetched.error());
    co_return true;
}

Awaitable<Result<Situation>> look(Git& git, const MergeRequest& request, bool origin) {
    Situation now;
    now.origin = origin;
    const std::pair<std::string, std::string*> refs[] = {
        {"refs/heads/" + request.branch, &now.tip},
        {"refs/heads/" + request.default_branch, &now.local},
        {"refs/remotes/origin/" + request.default_branch, &now.remote}};
    for (const auto& [ref, into] : refs) {
        const bool wanted = now.origin || into != &now.remote;
        if (!wanted) continue;
        auto commit = co_await commit_of(git, request.repo, ref);
        if (!commit) co_return commit.error();
        *into = std::move(*commit);
    }
    if (now.tip.empty() && now.origin) {  // nobody has checked it out here: origin's, as it was fetched just now
        auto commit = co_await commit_of(git, request.repo, "refs/remotes/origin/" + request.branch);
        if (!commit) co_return commit.error();
        now.tip = std::move(*commit);
    }
    if (now.tip.empty()) {
        co_return Error{ErrorCode::not_found,
                        "there is no branch " + printable(request.branch) +
                            "; where the task's branch was renamed with git, tell Orange in its workspace: orange task "
                            "update --branch",
                        {}};
    }
    if (!request.tip.empty() && now.tip != request.tip) {
        co_return Error{ErrorCode::conflict,
                        printable(request.branch) + " has moved from " + request.tip.substr(0, 12) + " to " +
                            now.tip.substr(0, 12) + " meanwhile; try again",
                        {}};
    }
    if (auto found = co_await find_base(git, request, now); !found) co_return found.error();
    co_return now;
}

Awaitable<Result<std::string>> merge_commit(Git& git, const MergeRequest& request, Pinned scratch,
                                            const Situation& now) {
    const auto related = co_await attempt(git, request.repo, words("merge-base", now.base, now.tip));
    if (!related) co_return related.error();
    if (related->exit_status == 1) {
        co_return Error{
            ErrorCode::conflict,
            printable(request.branch) + " and " + printable(request.default_branch) + " have no commit in common",
            {}};
    }
    auto who = co_await identity(git, request.repo);
    if (!who) co_return who.error();
    auto message = request.message.empty() ? "Merge branch '" + request.branch + "'" : request.message;
    const auto merged = co_await ask_inside(
        git, scratch,
        words("merge", "--quiet", "--no-ff", "--no-edit", "--no-verify", "--no-gpg-sign", "--no-autostash", "--no-stat",
              "--no-squash", "--commit", "--no-verify-signatures", "-m", message, now.tip),
        "", std::move(*who));
    if (merged) {
        auto made = co_await commit_of(git, scratch, "HEAD");
        co_return made;
    }
    const auto unmerged =
        co_await ask_inside(git, scratch, words("diff", "--name-only", "--no-ext-diff", "--diff-filter=U", "-z"));
    const auto files = unmerged ? pieces(*unmerged) : std::vector<std::string>();
    if (files.empty()) co_return merged.error();
    Error conflict{ErrorCode::conflict,
                   "merging " + printable(request.branch) + " into " + printable(request.default_branch) +
                       " conflicts in " + counted(files.size(), "file") + ":" + list_of(files),
                   {}};
    conflict.details["files"] = join(files, "\n");
    co_return conflict;
}

Awaitable<Result<std::string>> merge_in_scratch(Git& git, const MergeRequest& request, const Situation& now) {
    // One left by a daemon that was killed here.
    if (auto clear = co_await remove_worktree(git, request.repo, request.scratch); !clear) co_return clear.error();
    if (auto made = co_await add_worktree(git, request.repo, request.scratch, now.base); !made) co_return made.error();
    const auto scratch = co_await pin_new(git, request.repo, request.scratch);
    if (!scratch) co_return scratch.error();
    auto commit = co_await merge_commit(git, request, *scratch, now);
    auto removed = co_await remove_worktree(git, request.repo, request.scratch);
    if (commit && !removed) co_return removed.error();
    co_return commit;
}

Awaitable<Result<std::string>> make_commit(Git& git, const MergeRequest& request, const Situation& now) {
    if (request.strategy == MergeStrategy::merge) co_return co_await merge_in_scratch(git, request, now);
    const auto ahead = co_await contains(git, request.repo, now.tip, now.base);
    if (!ahead) co_return ahead.error();
    if (*ahead) co_return now.tip;
    co_return Error{ErrorCode::conflict,
                    printable(request.branch) + " cannot be fast-forwarded: " + printable(request.default_branch) +
                        " has commits that it lacks. Rebase it, or merge with --strategy merge",
                    {}};
}

/// Success only when origin itself says that its branch contains the commit.
Awaitable<Result<void>> push(Git& git, const MergeRequest& request, std::string commit) {
    GitCommand command;
    command.place = request.repo;
    command.args = words("push", "--quiet", "--no-verify", "--no-follow-tags", "--receive-pack=git-receive-pack",
                         "origin", commit + ":refs/heads/" + request.default_branch);
    command.deadline = k_network_deadline;
    const auto pushed = co_await git_output(git, std::move(command));
    // A connection that broke after origin took it looks like a failure: origin knows.
    const auto there = co_await remote_commit(git, request.repo, request.default_branch);
    if (there && *there == commit) co_return Result<void>{};
    if (!pushed) co_return in_context("pushing the merge to origin", pushed.error());
    if (!there) co_return in_context("checking the push", there.error());
    // Somebody may have pushed on top since.
    const std::chrono::milliseconds deadline = k_network_deadline;
    auto fetched = co_await fetch(git, request.repo, deadline);
    if (!fetched) co_return in_context("checking the push", fetched.error());
    const auto above = co_await contains(git, request.repo, "refs/remotes/origin/" + request.default_branch, commit);
    if (above && *above) co_return Result<void>{};
    co_return Error{ErrorCode::external_failed,
                    "origin accepted the push, but its " + printable(request.default_branch) + " is not at the merge",
                    {}};
}

/// A branch that is locked would be found out too late: git brings the checkout's files along first.
Awaitable<Result<void>> can_move(Git& git, const MergeRequest& request) {
    const auto dir = co_await git_dir(git, request.repo);
    if (!dir) co_return dir.error();
    const auto lock = *dir + "/refs/heads/" + request.default_branch + ".lock";
    std::error_code error;
    if (!std::filesystem::exists(lock, error)) co_return Result<void>{};
    co_return Error{ErrorCode::conflict,
                    printable(request.default_branch) +
                        " is locked by a git command, or by one that was killed: where "
                        "none is running, remove " +
                        printable(lock),
                    {}};
}

/// In the checkout git moves the branch together with the files; elsewhere only if it is still where we saw it.
Awaitable<Result<void>> move_local(Git& git, const MergeRequest& request, const Situation& now,
                                   const std::optional<Place>& checkout, std::string commit) {
    auto args = words("update-ref", "-m", "orange: merge", "refs/heads/" + request.default_branch, commit, now.local);
    Place where(request.repo);
    if (checkout) {
        where = *checkout;
        args = words("merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat",
                     "--no-verify-signatures", commit);
    }
    const auto done = co_await ask_inside(git, where, args);
    if (!done) co_return done.error();
    co_return Result<void>{};
}

/// The commit is there, and everything that could refuse it here has been asked; nothing has changed yet.
struct Prepared {
    Situation now;
    Merged merged;
    bool push = false;  ///< origin is still to get it
    bool move = false;  ///< and the local default branch
};

Awaitable<Result<void>> check_move(Git& git, const MergeRequest& request, const Situation& now, std::string commit) {
    if (auto free = co_await can_move(git, request); !free) co_return free.error();
    const auto checkout = co_await checkout_of(git, request.repo, request.default_branch);
    if (!checkout) co_return checkout.error();
    if (!*checkout) co_return Result<void>{};
    co_return co_await can_fast_forward(git, **checkout, now.local, std::move(commit));
}

Awaitable<Result<Prepared>> prepare(Git& git, const MergeRequest& request, bool origin) {
    Prepared ready;
    auto looked = co_await look(git, request, origin);
    if (!looked) co_return looked.error();
    ready.now = std::move(*looked);
    const auto& now = ready.now;
    const auto contained = co_await contains(git, request.repo, now.base, now.tip);
    if (!contained) co_return contained.error();
    ready.merged.already = *contained;
    ready.merged.pushed = now.origin;
    if (*contained) {
        ready.merged.commit = now.base;
        // Merged by hand already. Where origin has it there is nothing to do; else it is only still to be pushed.
        if (!now.origin || now.base == now.remote) co_return ready;
    } else {
        auto commit = co_await make_commit(git, request, now);
        if (!commit) co_return commit.error();
        ready.merged.commit = std::move(*commit);
    }
    const auto& commit = ready.merged.commit;
    ready.push = now.origin && now.remote != commit;
    ready.move = !now.local.empty() && now.local != commit;
    if (ready.move) {
        if (auto free = co_await check_move(git, request, now, commit); !free) co_return free.error();
    }
    if (now.origin && now.base != now.remote && !now.remote.empty()) {
        ready.merged.note = "commits of your local " + printable(request.default_branch) + " were pushed with it";
    }
    co_return ready;
}

/// Somebody may have checked it out, or left it, since it was looked at.
Awaitable<Result<void>> follow(Git& git, const MergeRequest& request, const Prepared& ready) {
    const auto checkout = co_await checkout_of(git, request.repo, request.default_branch);
    if (!checkout) co_return checkout.error();
    co_return co_await move_local(git, request, ready.now, *checkout, ready.merged.commit);
}

}  // namespace

Awaitable<Result<Merged>> merge(Git& git, MergeRequest request, LockRepository lock) {
    const auto origin = co_await fetched_origin(git, request);
    if (!origin) co_return origin.error();
    async::Mutex::Lock held;
    if (lock) held = co_await lock();
    auto ready = co_await prepare(git, request, *origin);
    if (!ready) co_return ready.error();
    if (ready->push) {
        held.release();
        if (auto pushed = co_await push(git, request, ready->merged.commit); !pushed) co_return pushed.error();
        if (lock) held = co_await lock();
    }
    auto& merged = ready->merged;
    if (!ready->move) co_return std::move(merged);
    auto moved = co_await follow(git, request, *ready);
    if (moved) co_return std::move(merged);
    if (!merged.pushed) co_return in_context("moving " + printable(request.default_branch), moved.error());
    merged.note = "origin has it, but your local " + printable(request.default_branch) +
                  " could not follow (git pull --ff-only): " + moved.error().message;
    co_return std::move(merged);
}

}  // namespace orange::git
