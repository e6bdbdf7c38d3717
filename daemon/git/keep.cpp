#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/git/ask.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/nested.hpp"
#include "daemon/git/worktrees.hpp"

/// What a snapshot of the files does not hold: commits that no branch has, repositories inside the worktree, and what
/// was stashed.
namespace orange::git {
namespace {

/// HEAD's commit under a ref of ours, where no other has it.
Awaitable<Result<void>> keep_head(Git& git, Pinned worktree, std::string below, std::vector<std::string>& kept) {
    CO_TRY(const auto head, co_await commit_of(git, worktree, "HEAD"));
    if (head.empty()) co_return Result<void>{};  // an orphan branch without a commit
    // Without refs/bisect and refs/worktree, which go with the worktree.
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

/// Repositories in the worktree that HEAD does not have as submodules. Relative to its top, without the last slash.
Awaitable<Result<std::vector<std::string>>> nested_repositories(Git& git, Pinned worktree) {
    // An index that is not there: one that the agent staged as a submodule is found too.
    const std::map<std::string, std::string> no_index = {
        {"GIT_INDEX_FILE", worktree.git_dir() + "/orange-none-" + random_id(12)}};
    CO_TRY(const auto others,
           co_await ask_inside(git, worktree, words("ls-files", "-z", "--others", "--exclude-standard", "--full-name"),
                               "", no_index));
    CO_TRY(const auto head, co_await commit_of(git, worktree, "HEAD"));
    std::vector<std::string> found;
    for (auto path : pieces(others)) {
        if (!path.ends_with('/')) continue;
        path.pop_back();
        if (!head.empty()) {
            CO_TRY(const auto entry,
                   co_await ask_inside(git, worktree, words("ls-tree", "-z", "--full-tree", "HEAD", "--", path)));
            if (entry.starts_with("160000 ")) continue;
        }
        found.push_back(std::move(path));
    }
    co_return found;
}

/// What it has staged or changed becomes a ref of its own repository, to be fetched with the others. Not where that
/// repository is elsewhere, as a whole or by a link: there, nothing is written.
Awaitable<Result<void>> snapshot_nested(Git& git, Nested nested) {
    if (!nested.is_whole) co_return Result<void>{};
    CO_TRY(const auto head, co_await commit_of(git, *nested.repository, "HEAD"));
    if (head.empty()) co_return Result<void>{};
    CO_TRY(co_await snapshot(git, *nested.repository, "refs/orange/wip", "Uncommitted work"));
    co_return Result<void>{};
}

constexpr const char* k_here = "./.";  ///< to git, "." is the repository that fetches

/// Its commits into the worktree's repository, below `ref`; nothing where it has none. A repository whose .git is no
/// folder lives elsewhere and stays there: only what this one is on is at stake.
Awaitable<Result<bool>> fetch_nested(Git& git, Nested nested, std::string refs, std::string ref) {
    if (trim(refs).empty()) co_return false;
    auto args = words("-c", "protocol.file.allow=always", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
                      "--no-auto-maintenance", "--no-recurse-submodules", "--", k_here);
    if (nested.repository) args.push_back("+refs/*:" + ref + "/*");
    if (refs.find("\tHEAD\n") != std::string::npos) args.push_back("+HEAD:" + ref + "/HEAD");
    CO_TRY(co_await ask_inside(git, nested.outer, std::move(args)));
    co_return true;
}

/// Its commits are kept in refs; without its .git, its files are the worktree's own.
Awaitable<Result<void>> absorb(Git& git, Pinned worktree, std::string path, std::string below,
                               std::vector<std::string>& kept) {
    CO_TRY(const auto nested, open_nested(worktree, path));
    CO_TRY(co_await snapshot_nested(git, nested));
    CO_TRY(auto refs, co_await ask_inside(git, nested.outer, words("ls-remote", "--quiet", "--", k_here)));
    // The same repository again, after an attempt that failed, has the same ref.
    const auto ref = below + "/nested-" + content_hash(path + "\n" + refs).substr(0, 12);
    CO_TRY(const auto fetched, co_await fetch_nested(git, nested, std::move(refs), ref));
    if (fetched) kept.push_back(ref);
    co_return remove_git_of(nested);
}

}  // namespace

Awaitable<Result<std::vector<std::string>>> keep_commits(Git& git, Pinned worktree, std::string below,
                                                         Standing standing) {
    std::vector<std::string> kept;
    if (!standing.is_held) CO_TRY(co_await keep_head(git, worktree, below, kept));
    if (standing.known && !standing.may_hold_repositories) co_return kept;
    // Again for what was inside those: as deep as they were made, and no deeper than is sane.
    for (int depth = 0; depth < 8; ++depth) {
        CO_TRY(auto nested, co_await nested_repositories(git, worktree));
        if (nested.empty()) break;
        for (auto& path : nested) {
            const auto place = worktree.path() + "/" + path;
            auto done = co_await absorb(git, worktree, std::move(path), below, kept);
            if (done) continue;
            auto refused = in_context("keeping the repository in " + printable(place), done.error());
            refused.message += "; if it is of no use, remove it, then run: orange workspace gc";
            co_return refused;
        }
    }
    co_return kept;
}

Awaitable<Result<std::vector<std::string>>> keep_stashes(Git& git, Pinned worktree, std::string below) {
    std::vector<std::string> kept;
    CO_TRY(const auto branch, co_await current_branch(git, worktree));
    if (branch.empty()) co_return kept;
    CO_TRY(const auto listed, co_await ask_inside(git, worktree, words("stash", "list", "-z", "--format=%H %gs")));
    const auto last = branch.substr(branch.rfind('/') + 1);  // all that git before 2.37 says of it
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
