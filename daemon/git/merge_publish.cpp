#include <algorithm>
#include <filesystem>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/checkout.hpp"
#include "daemon/git/merge.hpp"

/// A merge leaves the repository, and the local branches follow.
namespace orange::git {
namespace {

constexpr auto k_push_deadline = std::chrono::seconds(120);
constexpr std::size_t k_longest_reason = 300;

bool says(const std::string& text, std::initializer_list<std::string_view> phrases) {
    return std::any_of(phrases.begin(), phrases.end(),
                       [&](std::string_view phrase) { return text.find(phrase) != std::string::npos; });
}

/// Git's own lines: a hook of the remote's may say anything after the push has happened.
std::string own_words(const std::string& err) {
    std::string own;
    for (const auto line : split_lines(err)) {
        if (!line.starts_with("remote: ")) own += std::string(line) + "\n";
    }
    return own;
}

/// What `push --porcelain` says of our one ref: "!\t<from>:<to>\t[remote rejected] (hook declined)"; empty if nothing.
std::string verdict_of(const Completed& done) {
    for (const auto line : split_lines(done.out)) {
        const auto columns = split(line, '\t');
        if (columns.size() == 3 && columns[0] == "!") return std::string(columns[2]);
    }
    return {};
}

/// What the remote said, or git, in one line: of "remote: error: GH006: Protected branch …" only the words.
std::string reason_of(const Completed& done, const std::string& verdict) {
    std::vector<std::string> remote, fatal;
    for (auto line : split_lines(done.err)) {
        const bool theirs = line.starts_with("remote: ");
        if (theirs) line.remove_prefix(8);
        line = trim(line);
        for (const std::string_view prefix : {std::string_view("error: "), std::string_view("fatal: ")}) {
            if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
        }
        if (line.empty()) continue;
        if (theirs) remote.emplace_back(line);
        if (!theirs && !line.starts_with("failed to push some refs")) fatal.emplace_back(line);
    }
    auto reason = join(remote, " ");
    if (reason.empty() && !verdict.empty()) reason = verdict;
    if (reason.empty()) reason = join(fatal, " ");
    return ellipsized(printable(reason.empty() ? "git push failed" : reason), k_longest_reason);
}

Error refused(const MergeRequest& request, const std::string& reason) {
    return {ErrorCode::external_failed,
            "origin refuses the push to " + printable(request.target) + ": " + reason +
                "\nTo open a pull request instead, push the branch:\n  git -C " + shell_word(request.repo) +
                " push -u origin " + shell_word(request.branch),
            {{"refused", "true"}}};
}

/// After a push that git calls a success. A push URL that leads elsewhere, or a hook that takes it back, is no merge.
Awaitable<Result<PushAnswer>> check_landed(Git& git, const MergeRequest& request, std::string commit) {
    const auto there = co_await remote_commit(git, request.repo, request.target);
    if (!there) co_return PushAnswer{Pushed::unknown, first_line(there.error().message)};
    if (*there == commit) co_return PushAnswer{Pushed::landed, {}};
    const std::chrono::milliseconds deadline = k_push_deadline;  // somebody may have pushed on top since
    if (auto fetched = co_await fetch(git, request.repo, deadline); !fetched) {
        co_return PushAnswer{Pushed::unknown, first_line(fetched.error().message)};
    }
    const auto above = co_await has_commit(git, request.repo, "refs/remotes/origin/" + request.target, commit);
    if (!above) co_return PushAnswer{Pushed::unknown, first_line(above.error().message)};
    if (*above) co_return PushAnswer{Pushed::landed, {}};
    co_return Error(ErrorCode::external_failed,
                    "origin accepted the push, but its " + printable(request.target) + " is not at the merge");
}

/// A branch that is locked would be found out too late: git updates the checkout's files first.
Awaitable<Result<void>> check_unlocked(Git& git, const MergeRequest& request) {
    CO_TRY(const auto dir, co_await git_dir(git, request.repo));
    const auto lock = dir + "/refs/heads/" + request.target + ".lock";
    std::error_code error;
    if (!std::filesystem::exists(lock, error)) co_return Result<void>{};
    co_return Error(ErrorCode::conflict,
                    printable(request.target) +
                        " is locked by a git command, or by one that was killed. If none is running, remove the lock:"
                        "\n  rm " +
                        shell_word(lock));
}

}  // namespace

Awaitable<Result<PushAnswer>> push_merge(Git& git, const MergeRequest& request, std::string commit,
                                         std::string expected) {
    const auto ref = "refs/heads/" + request.target;
    GitCommand command;
    command.place = request.repo;
    // The lease keeps a branch that somebody has set back meanwhile from being overwritten.
    command.args = words("push", "--porcelain", "--no-verify", "--no-follow-tags", "--receive-pack=git-receive-pack",
                         "--force-with-lease=" + ref + ":" + expected, "origin", commit + ":" + ref);
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
    // Before anything was sent: nothing can arrive any more.
    if (says(own_words(done->err), {"could not read Username", "could not read Password", "Authentication failed",
                                    "Permission denied", "access rights", "Host key verification failed"})) {
        co_return refused(request, reason);
    }
    const auto there = co_await remote_commit(git, request.repo, request.target);
    if (there && *there == commit) co_return PushAnswer{Pushed::landed, {}};
    co_return PushAnswer{Pushed::unknown, reason};
}

Awaitable<Result<void>> follow(Git& git, const MergeRequest& request, std::string commit) {
    const auto ref = "refs/heads/" + request.target;
    CO_TRY(const auto local, co_await commit_of(git, request.repo, ref));
    if (local.empty()) co_return Result<void>{};
    CO_TRY(const auto there, co_await contains(git, request.repo, local, commit));
    if (there) co_return Result<void>{};
    CO_TRY(co_await check_unlocked(git, request));
    CO_TRY(const auto checkout, co_await checkout_of(git, request.repo, request.target));
    CO_TRY(const auto forward, co_await contains(git, request.repo, commit, local));
    if (!forward) {
        CO_TRY(const auto ahead, co_await ask(git, request.repo, words("rev-list", "--count", local, "^" + commit)));
        co_return Error(ErrorCode::conflict, printable(request.target) + " has commits that the merge does not have",
                        {{"ahead", std::string(trim(ahead))}});
    }
    auto args = words("update-ref", "-m", "orange: merge", ref, commit, local);
    Place where(request.repo);
    if (checkout) {
        where = *checkout;
        CO_TRY(co_await can_fast_forward(git, where, local, commit));
        // git moves the branch together with the files.
        args = words("merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat",
                     "--no-verify-signatures", commit);
    }
    CO_TRY(co_await ask_inside(git, where, args));
    co_return Result<void>{};
}

Awaitable<Result<bool>> retire_branch(Git& git, std::string repo, std::string branch, std::string tip,
                                      std::string ref) {
    CO_TRY(const auto known, co_await commit_of(git, repo, tip));
    if (known.empty()) co_return false;
    CO_TRY(co_await ask(git, repo, words("update-ref", "-m", "orange: merged", ref, tip)));
    const auto head = "refs/heads/" + branch;
    CO_TRY(const auto now, co_await commit_of(git, repo, head));
    if (now.empty()) co_return true;
    if (now != tip) co_return false;
    const auto checkout = co_await checkout_of(git, repo, branch);
    if (!checkout && checkout.error().code != ErrorCode::conflict) co_return checkout.error();
    if (!checkout || *checkout) co_return false;
    CO_TRY(co_await ask(git, repo, words("update-ref", "-m", "orange: merged", "-d", head, tip)));
    // What it followed at origin; a branch without such settings has no section.
    (void)co_await attempt(git, repo, words("config", "--remove-section", "branch." + branch));
    co_return true;
}

}  // namespace orange::git
