#pragma once

#include <string>

#include "daemon/git/git.hpp"
#include "daemon/git/merge.hpp"
#include "daemon/git/pinned.hpp"

/// Commits of a branch that are made again on another commit, without a checkout, and the move of the branch to them.
namespace orange::git {

/// The commits of `request.tip` that neither `from` nor `onto` has, and where they are made again. The objects of all
/// exist. `request` has the repository, the scratch folder, and the names of the branch and of `onto` for messages.
struct Replay {
    MergeRequest request;
    std::string from;
    std::string onto;
    std::string message;  ///< of the one commit that is made if the commits cannot be made again one by one
};

/// Returns the commit with the changes of `from..tip` on top of `onto`: each commit again, with its author and its
/// message. Merges are left out. If there are more than 100, or if that would not give the same files as one merge of
/// all changes, they become a single commit. conflict, with `details["files"]`, if git cannot merge the changes by
/// itself. No ref changes. The commits are not signed.
Awaitable<Result<std::string>> replay(Git& git, Replay what);

struct Range {
    std::string from, to;
};
/// Returns true if two ranges of commits change the same: the patches have the same id (`git patch-id --verbatim`,
/// which git 2.38 does not have), and the same files, lines and modes are changed. False if they change a binary file,
/// of which a patch says nothing.
Awaitable<Result<bool>> is_same_patch(Git& git, std::string repo, Range before, Range after);

/// Moves the branch that the worktree is on, and its files, to `commit`. Fails, and changes nothing, if an uncommitted
/// change is in the way. The caller has called head_to_merge_into() (update.hpp).
Awaitable<Result<void>> reset_here(Git& git, Pinned worktree, std::string commit);

}  // namespace orange::git
