#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "daemon/git/git.hpp"

/// Lists, saves and restores the files of a worktree that git ignores. Ignored files stay in the worktree when a task
/// ends, so the next task finds them.
namespace orange::git {

/// Returns the names, or the beginnings of names, of the files that Orange itself puts into worktrees and that git
/// ignores.
std::vector<std::string> own_files();

/// Returns all ignored files, without own_files(), as shown_path(); a folder that is ignored as a whole is one name
/// that ends in '/'.
Awaitable<Result<std::vector<std::string>>> ignored_in(Git& git, Pinned worktree);

inline constexpr std::int64_t k_most_kept = std::int64_t{100}
                                            << 20;  ///< bytes of the ignored files that are kept of a task

struct KeptIgnored {
    std::string commit;     ///< contains nothing but the kept files; empty: there were none
    std::size_t files = 0;  ///< how many files the commit contains
    /// Files that were left out because the total would exceed k_most_kept: shown_path() and size in bytes.
    std::vector<std::pair<std::string, std::int64_t>> too_large;
};

/// Saves the ignored files that `patterns`, in the syntax of .gitignore, match in a commit under `ref`. An earlier
/// commit there becomes its parent.
Awaitable<Result<KeptIgnored>> keep_ignored(Git& git, Pinned worktree, std::vector<std::string> patterns,
                                            std::string ref, std::string message);

/// Writes the files of such a commit into the new folder `folder`, all of them or none.
Awaitable<Result<void>> write_files_of(Git& git, std::string repo, std::string commit, std::string folder);

}  // namespace orange::git
