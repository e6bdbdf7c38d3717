#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "daemon/git/git.hpp"
#include "daemon/git/refs.hpp"

namespace orange::git {

/// invalid_argument where git would not take it as a branch's name, or where it could be taken for an option.
Awaitable<Result<void>> check_branch_name(Git& git, std::string name);

/// The commit of a ref; empty where it does not exist.
Awaitable<Result<std::string>> commit_of(Git& git, Place place, std::string ref);

/// True where `commit` is `descendant` or one of its ancestors.
Awaitable<Result<bool>> contains(Git& git, Place place, std::string descendant, std::string commit);

/// The root of the repository's main worktree for any directory in it (also from a linked worktree); of a bare
/// repository root_of_bare(). invalid_argument for no repository, one without a commit, one whose core.bare or
/// core.worktree deny its working tree, or a bare one that would not keep what is fetched.
Awaitable<Result<std::string>> main_worktree(Git& git, std::string dir);

/// The branch that HEAD of `place` is on; empty when detached.
Awaitable<Result<std::string>> current_branch(Git& git, Place place);

/// The same of a worktree, without a process if the worktree's HEAD is an ordinary file.
Awaitable<Result<std::string>> branch_of(Git& git, Pinned worktree);

struct DefaultBranch {
    std::string name;
    bool is_known = false;  ///< not guessed by its name while the repository has others
};

/// The default branch: that of origin's HEAD (asked for if the repository does not know it), else init.defaultBranch /
/// main / master where they exist, else HEAD's branch.
Awaitable<Result<DefaultBranch>> find_default_branch(Git& git, std::string repo);
Awaitable<Result<std::string>> default_branch(Git& git, std::string repo);

/// True where the repository has a remote called origin.
Awaitable<Result<bool>> has_origin(Git& git, std::string repo);

/// For those who can go on without: a silent remote does not hold up a start.
inline constexpr std::chrono::milliseconds k_fetch_patience = std::chrono::seconds(20);

/// `fetch --prune origin`, until the deadline or `stop`. Failing is for the caller to weigh (offline is a warning).
Awaitable<Result<void>> fetch(Git& git, std::string repo, std::chrono::milliseconds deadline,
                              std::shared_ptr<Stop> stop = nullptr);

/// Gets the commits of one of origin's refs ("refs/pull/7/head") without a ref of its own here.
Awaitable<Result<void>> fetch_ref(Git& git, std::string repo, std::string ref, std::chrono::milliseconds deadline);

/// The ref of base_of() (refs.hpp).
Awaitable<Result<std::string>> base_ref(Git& git, std::string repo, std::string default_branch,
                                        MergesTo merges = MergesTo::origin);

/// Moves or makes a branch that no worktree is on, if it still is at `from` (empty: if it does not exist).
Awaitable<Result<void>> move_branch(Git& git, std::string repo, std::string branch, std::string to, std::string from);

/// Returns the folder of a branch below refs/heads, as "orange-tasks" of "orange-tasks/total". Empty if it is in none.
std::string folder_of(const std::string& branch);

/// Makes a folder of branches ("orange-tasks") in the repository's .git, with that of their logs. git removes empty
/// ones. Fails if a part of it is a link.
Result<void> make_branch_folder(const std::string& git_common, const std::string& folder);

/// Renames a branch (refused where `to` exists); of a worktree only the one that it is on.
Awaitable<Result<void>> rename_branch(Git& git, Place place, std::string from, std::string to);

/// Where origin itself says that its branch is; empty where it has none.
Awaitable<Result<std::string>> remote_commit(Git& git, std::string repo, std::string branch);

/// Deletes origin's branch, only while it is still at a commit that one of `merged_into` contains. Success if there is
/// no such branch. There has to be an origin.
Awaitable<Result<void>> delete_remote_branch(Git& git, std::string repo, std::string branch,
                                             std::vector<std::string> merged_into);

}  // namespace orange::git
