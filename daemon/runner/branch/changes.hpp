#pragma once

#include <cstdint>
#include <string>

#include "daemon/git/worktrees.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// The changes of a task's branch: from `base`, where it left the branch that it is compared with, to `tip`.
struct Changes {
    std::string repository;
    std::string base;         ///< a commit
    std::string commit = {};  ///< the branch's newest commit
    std::string tip;          ///< the branch's commit; with uncommitted changes, a tree of the worktree's files
    std::int64_t commits = 0, files = 0, added = 0, removed = 0;
    bool uncommitted = false;
    std::vector<git::LargeFile> large = {};  ///< uncommitted files that are not in `tip`
};

/// Counts what the commits of `tip` change since it left `target`; both are names of commits. `known` is an earlier
/// count of the branch, or empty. It is returned, without counting, if its tip and base are the same.
Awaitable<Result<Changes>> committed_changes(World& world, std::string repository, std::string target, std::string tip,
                                             Changes known);

/// Returns the changes in the task's worktree, or of its branch if it has no worktree. not_found if there is neither.
/// With `since_review`, counts from the commit that was reviewed last; not_found if there is none. `known` is as in
/// committed_changes(): for a large branch, git needs long to count.
Awaitable<Result<Changes>> changes_of(World& world, TaskRecord record, Changes known, bool since_review = false);

/// The text of changes, as git prints it without colours.
struct Patch {
    std::string stat;
    std::string text;  ///< at most k_largest_patch bytes, whole lines
    bool cut = false;
};
inline constexpr std::size_t k_largest_patch = std::size_t{512} << 10;
Awaitable<Result<Patch>> patch_of(World& world, Changes changes);

}  // namespace orange
