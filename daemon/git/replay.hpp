#pragma once

#include <string>

#include "daemon/git/git.hpp"
#include "daemon/git/pinned.hpp"

/// Commits of a branch that are made again on another commit, without a checkout, and the move of the branch to them.
namespace orange::git {

/// The commits of `tip` that neither `from` nor `onto` has, and where they are made again. The objects of all exist.
struct Replay {
    std::string repo;
    std::string scratch;  ///< a path for a folder that replay() makes and removes
    std::string branch;   ///< its name, and that of `onto`, for messages
    std::string shown_onto;
    std::string from;
    std::string tip;
    std::string onto;
    std::string message;  ///< of the one commit that is made if the commits cannot be made again one by one
};

/// Returns the commit with the changes of `from..tip` on top of `onto`: each commit again, with its author and its
/// message. Merges are left out. If that would not give the same files as one merge of all changes, they become a
/// single commit. conflict, with `details["files"]`, if git cannot merge the changes by itself. No ref changes. The
/// commits are not signed.
Awaitable<Result<std::string>> replay(Git& git, Replay what);

/// Returns true if two ranges of commits change the same: the patches have the same id (`git patch-id --stable`), and
/// the same files, lines and modes are changed. False if they change a binary file, of which a patch says nothing.
struct Range {
    std::string from, to;
};
Awaitable<Result<bool>> is_same_patch(Git& git, std::string repo, Range before, Range after);

/// Moves the branch that the worktree is on, and its files, to `commit`. Fails, and changes nothing, if an uncommitted
/// change is in the way. The caller has called head_to_merge_into() (update.hpp).
Awaitable<Result<void>> reset_here(Git& git, Pinned worktree, std::string commit);

}  // namespace orange::git
