#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"
#include "daemon/git/refs.hpp"

namespace orange::git {

/// Returns invalid_argument if git refuses the name for a branch, or if a command could take it for an option.
Awaitable<Result<void>> check_branch_name(Git& git, std::string name);

/// Returns the commit of a ref; empty if the ref does not exist.
Awaitable<Result<std::string>> commit_of(Git& git, Place place, std::string ref);

/// Returns true if `commit` is `descendant` or one of its ancestors.
Awaitable<Result<bool>> contains(Git& git, Place place, std::string descendant, std::string commit);

/// Returns the root of the main worktree for any directory of a repository, also in a linked worktree; for a bare
/// repository, root_of_bare(). invalid_argument if there is no repository, if it has no commit, if its core.bare or
/// core.worktree contradict its working tree, or if it is bare and does not keep the branches that it fetches.
Awaitable<Result<std::string>> main_worktree(Git& git, std::string dir);

/// Returns the branch that HEAD of `place` is on; empty if HEAD is detached.
Awaitable<Result<std::string>> current_branch(Git& git, Place place);

/// Returns the branch of a worktree as current_branch() does, without a process if its HEAD is an ordinary file.
Awaitable<Result<std::string>> branch_of(Git& git, Pinned worktree);

struct DefaultBranch {
    std::string name;
    bool is_known = false;  ///< false: chosen only for its name (init.defaultBranch, main, master)
};

/// Returns the default branch: that of origin's HEAD (origin is queried if the repository does not know it), or else
/// the first of init.defaultBranch, main and master that exists, or else the branch that HEAD is on.
Awaitable<Result<DefaultBranch>> find_default_branch(Git& git, std::string repo);
/// Returns only the name of find_default_branch().
Awaitable<Result<std::string>> default_branch(Git& git, std::string repo);

/// Returns true if the repository has a remote called origin.
Awaitable<Result<bool>> has_origin(Git& git, std::string repo);

/// The deadline of a fetch for callers that can work without it: a silent remote must not hold up a start.
inline constexpr std::chrono::milliseconds k_fetch_patience = std::chrono::seconds(20);

/// Runs `fetch --prune origin`, until the deadline or `stop`. The caller decides what a failure means: offline is often
/// only a warning.
Awaitable<Result<void>> fetch(Git& git, std::string repo, std::chrono::milliseconds deadline,
                              std::shared_ptr<Stop> stop = nullptr);

/// Fetches the commits of one of origin's refs ("refs/pull/7/head") without a local ref for it.
Awaitable<Result<void>> fetch_ref(Git& git, std::string repo, std::string ref, std::chrono::milliseconds deadline);

/// Returns the ref of base_of() (refs.hpp).
Awaitable<Result<std::string>> base_ref(Git& git, std::string repo, std::string default_branch,
                                        MergesTo merges = MergesTo::origin);

/// Sets a branch that no worktree has checked out to `to`, if it still is at `from` (empty: if it does not exist yet).
/// The caller has called check_branch_files().
Awaitable<Result<void>> move_branch(Git& git, std::string repo, std::string branch, std::string to, std::string from);

/// Returns the folders of objects from which the repository borrows (`git clone --shared`), and from which those
/// borrow.
std::vector<std::string> alternates_of(const std::string& git_common);

/// Returns the pipes, sockets and devices among the refs and their logs, at most a few: git waits for such a file.
std::vector<std::string> obstacles_among_refs(const std::string& git_common);

/// Checks the files of a branch and of its log in the repository's .git before git writes them, without a process.
/// conflict, with the way out, if the branch is a symbolic ref, or if a link is on the way: git would move another
/// branch, or write outside of .git.
Result<void> check_branch_files(const std::string& git_common, const std::string& branch);

/// Renames a branch (refused where `to` exists); of a worktree only the one that it is on. If `place` is a repository,
/// the caller has called check_branch_files() for both.
Awaitable<Result<void>> rename_branch(Git& git, Place place, std::string from, std::string to);

/// Asks origin for the commit of its branch; empty if origin does not have the branch.
Awaitable<Result<std::string>> remote_commit(Git& git, std::string repo, std::string branch);

/// Deletes origin's branch if it still is at a commit that one of `merged_into` contains; conflict otherwise. Success
/// if origin has no such branch. The repository must have an origin.
Awaitable<Result<void>> delete_remote_branch(Git& git, std::string repo, std::string branch,
                                             std::vector<std::string> merged_into);

}  // namespace orange::git
