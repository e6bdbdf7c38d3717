#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/checkout.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/refs.hpp"
#include "daemon/git/small_files.hpp"
#include "daemon/git/worktrees.hpp"

/// The part that publishes a merge: pushes it, checks that it arrived, and updates the local branches.
namespace orange::git {
namespace {

constexpr auto k_push_deadline = std::chrono::seconds(120);
constexpr std::size_t k_longest_reason = 300;

/// Returns git's own lines only: a hook of the remote may print anything, even after the push has succeeded.
std::string own_words(const std::string& err) {
    std::string own;
    for (const auto line : split_lines(err)) {
        if (!line.starts_with("remote: ")) own += std::string(line) + "\n";
    }
    return own;
}

/// Returns the reason in `push --porcelain`'s line for our ref, "!\t<from>:<to>\t[remote rejected] (hook declined)";
/// empty if there is no such line.
std::string verdict_of(const Completed& done) {
    for (const auto line : split_lines(done.out)) {
        const auto columns = split(line, '\t');
        if (columns.size() == 3 && columns[0] == "!") return std::string(columns[2]);
    }
    return {};
}

/// Returns what the remote said, or else what git said, in one line. Of "remote: error: GH006: Protected branch …" only
/// the words after the prefixes remain.
std::string reason_of(const Completed& done, const std::string& verdict) {
    std::vector<std::string> remote;
    for (auto line : split_lines(done.err)) {
        if (!line.starts_with("remote: ")) continue;
        line = trim(line.substr(8));
        for (const std::string_view prefix : {std::string_view("error: "), std::string_view("fatal: ")}) {
            if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
        }
        if (!line.empty()) remote.emplace_back(line);
    }
    auto reason = join(remote, " ");
    if (reason.empty()) reason = verdict;
    if (reason.empty()) return done.err.empty() ? "git push failed" : std::string(first_line(reason_in(done)));
    return ellipsized(printable(reason), k_longest_reason);
}

Error refused(const MergeRequest& request, const std::string& reason) {
    return {ErrorCode::external_failed,
            "origin refuses the push to " + printable(request.target) + ": " + reason +
                "\nTo open a pull request instead, push the branch:\n  git -C " + shell_word(request.repo) +
                " push -u origin " + shell_word(request.branch),
            {{"refused", "true"}}};
}

/// Checks origin after a successful push: the push URL may lead elsewhere, or a hook may have reverted the push.
Awaitable<Result<PushAnswer>> check_landed(Git& git, const MergeRequest& request, std::string commit) {
    const auto there = co_await remote_commit(git, request.repo, request.target);
    if (!there) co_return PushAnswer{Pushed::unknown, first_line(there.error().message)};
    if (*there == commit) co_return PushAnswer{Pushed::landed, {}};
    const std::chrono::milliseconds deadline = k_push_deadline;  // another user may have pushed on top since
    if (auto fetched = co_await fetch(git, request.repo, deadline); !fetched) {
        co_return PushAnswer{Pushed::unknown, first_line(fetched.error().message)};
    }
    const auto above = co_await has_commit(git, request.repo, "refs/remotes/origin/" + request.target, commit);
    if (!above) co_return PushAnswer{Pushed::unknown, first_line(above.error().message)};
    if (*above) co_return PushAnswer{Pushed::landed, {}};
    co_return Error(ErrorCode::external_failed,
                    "origin accepted the push, but its " + printable(request.target) + " is not at the merge");
}

/// Checks for git's lock of the target branch first, because git would find it only after it has updated the checkout's
/// files.
Result<void> check_unlocked(const std::string& dir, const MergeRequest& request) {
    const auto lock = dir + "/refs/heads/" + request.target + ".lock";
    std::error_code error;
    if (!std::filesystem::exists(lock, error)) return {};
    return Error(ErrorCode::conflict,
                 printable(request.target) +
                     " is locked by a git command, or by one that was killed. If none is running, remove the lock:"
                     "\n  rm " +
                     shell_word(lock));
}

/// Returns the commit of the local target: the head of the worktree that has it checked out, or else git's answer;
/// empty if there is none.
Awaitable<Result<std::string>> local_target(Git& git, const MergeRequest& request, const std::vector<Worktree>& all) {
    for (const auto& worktree : all) {
        const bool born = worktree.head.find_first_not_of('0') != std::string::npos;
        if (worktree.branch == request.target && born && is_hash(worktree.head)) co_return worktree.head;
    }
    co_return co_await commit_of(git, request.repo, std::string(k_heads) + request.target);
}

/// Returns true if the repository's own settings may have a section for the branch. Git writes the branch's name there
/// unchanged, except for quotes.
bool is_configured(const std::string& git_dir, const std::string& branch) {
    constexpr std::size_t k_longest = std::size_t{1} << 20;
    const auto text = small_file_at(AT_FDCWD, git_dir + "/config", k_longest);
    return !text || branch.find('"') != std::string::npos || text->find(branch) != std::string::npos;
}

}  // namespace

Awaitable<Result<PushAnswer>> push_merge(Git& git, const MergeRequest& request, std::string commit,
                                         std::string expected) {
    const auto ref = "refs/heads/" + request.target;
    // The lease prevents an overwrite if another user has moved the branch back meanwhile.
    GitCommand command{
        request.repo, words("push", "--porcelain", "--no-verify", "--no-follow-tags", "--receive-pack=git-receive-pack",
                            "--force-with-lease=" + ref + ":" + expected, "origin", commit + ":" + ref)};
    command.deadline = k_push_deadline;
    const auto done = co_await git.run(std::move(command));
    if (!done) co_return PushAnswer{Pushed::unknown, first_line(done.error().message)};
    if (done->ok()) co_return co_await check_landed(git, request, std::move(commit));
    const auto verdict = verdict_of(*done);
    const auto reason = reason_of(*done, verdict);
    if (says(verdict, {"[rejected]", "failed to update ref", "cannot lock ref", "incorrect old value",
                       "reference already exists"})) {
        co_return PushAnswer{Pushed::raced, reason};
    }
    if (verdict.starts_with("[remote rejected]")) co_return refused(request, reason);
    // The push failed before it sent anything, so the commit cannot arrive later.
    if (says(own_words(done->err), {"could not read Username", "could not read Password", "Authentication failed",
                                    "Permission denied", "access rights", "Host key verification failed"})) {
        co_return refused(request, reason);
    }
    const auto there = co_await remote_commit(git, request.repo, request.target);
    if (there && *there == commit) co_return PushAnswer{Pushed::landed, {}};
    co_return PushAnswer{Pushed::unknown, reason};
}

Awaitable<Result<void>> follow(Git& git, const MergeRequest& request, std::string commit) {
    auto dir = request.git_dir;
    if (dir.empty()) {
        CO_TRY(dir, co_await git_dir(git, request.repo));
    }
    CO_TRY(const auto all, co_await worktrees(git, request.repo));
    CO_TRY(const auto local, co_await local_target(git, request, all));
    if (local.empty() || local == commit) co_return Result<void>{};
    bool forward = local == request.base;
    if (!forward) {
        CO_TRY(forward, co_await contains(git, request.repo, commit, local));
    }
    if (!forward) {
        CO_TRY(const auto there, co_await contains(git, request.repo, local, commit));
        if (there) co_return Result<void>{};
    }
    CO_TRY(check_unlocked(dir, request));
    if (request.is_of_task) CO_TRY(check_branch_files(dir, request.target));
    CO_TRY(const auto checkout, checkout_of(all, dir, request.target));
    if (!forward) {
        CO_TRY(const auto ahead, co_await ask(git, request.repo, words("rev-list", "--count", local, "^" + commit)));
        co_return Error(ErrorCode::conflict, printable(request.target) + " has commits that the merge does not have",
                        {{"ahead", std::string(trim(ahead))}});
    }
    auto args = words("update-ref", "-m", "orange: merge", std::string(k_heads) + request.target, commit, local);
    Place where(request.repo);
    if (checkout) {
        where = *checkout;
        CO_TRY(co_await can_fast_forward(git, where, dir, local, commit));
        // This git command moves the branch together with the files.
        args = words("merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat",
                     "--no-verify-signatures", commit);
    }
    CO_TRY(co_await ask_inside(git, where, args));
    co_return Result<void>{};
}

Awaitable<Result<bool>> retire_branch(Git& git, Repository repo, std::string branch, std::string tip, std::string ref) {
    const auto head = std::string(k_heads) + branch;
    auto names = words(head);
    CO_TRY(const auto found, co_await refs(git, repo.path, std::move(names)));
    const auto now = found.find(head);
    const bool there = now != found.end();
    if (!there || now->second.commit != tip) {
        CO_TRY(const auto known, co_await commit_of(git, repo.path, tip));
        if (known.empty()) co_return false;
    }
    std::error_code error;  // git names worktrees whose folder is missing, too
    const bool in_use = there && std::filesystem::exists(now->second.worktree, error);
    const bool goes = there && now->second.commit == tip && !in_use && check_branch_files(repo.git_dir, branch) &&
                      !is_operated_on(repo.git_dir, branch);
    // Use one transaction: the ref is written and the branch deleted, or neither happens.
    std::string input = "update " + ref + " " + tip + "\n";
    if (goes) input += "delete " + head + " " + tip + "\n";
    CO_TRY(co_await ask_inside(git, repo.path, words("update-ref", "--no-deref", "-m", "orange: merged", "--stdin"),
                               input));
    // Remove the setting for the branch that it followed at origin.
    if (goes && is_configured(repo.git_dir, branch)) {
        (void)co_await attempt(git, repo.path, words("config", "--remove-section", "branch." + branch));
    }
    co_return goes || !there;
}

}  // namespace orange::git
