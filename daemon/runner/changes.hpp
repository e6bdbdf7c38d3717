#pragma once

#include <cstdint>
#include <string>

#include "daemon/runner/world.hpp"

namespace orange {

/// What a task's branch changes: from `base`, where it left the branch that it is compared with, to `tip`.
struct Changes {
    std::string repository;
    std::string base;         ///< a commit
    std::string commit = {};  ///< the branch's newest commit
    std::string tip;          ///< a tree with all files of the worktree, or without a workspace the branch's commit
    std::int64_t commits = 0, files = 0, added = 0, removed = 0;
    bool uncommitted = false;
};

/// Counts what the commits of `tip` change since it left `target`, both names of commits. `known` is an earlier count
/// of the branch, or empty: it stands if the branch began at the same commit then, and nothing is counted.
Awaitable<Result<Changes>> committed_changes(World& world, std::string repository, std::string target, std::string tip,
                                             Changes known);

/// Looks at the task's worktree, or at its branch if it has none. not_found if there is neither. `since_review`: from
/// the commit that was reviewed last; not_found if there is none.
Awaitable<Result<Changes>> changes_of(World& world, TaskRecord record, bool since_review = false);

/// The changes themselves, as git shows them without colours.
struct Patch {
    std::string stat;
    std::string text;  ///< at most k_largest_patch bytes, whole lines
    bool cut = false;
};
inline constexpr std::size_t k_largest_patch = std::size_t{512} << 10;
Awaitable<Result<Patch>> patch_of(World& world, Changes changes);

}  // namespace orange
