#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "daemon/git/git.hpp"

/// Files that git ignores in a worktree. They stay there when a task ends, and the next task finds them.
namespace orange::git {

/// Returns the names of the files that Orange itself puts into worktrees and that git ignores.
std::vector<std::string> own_files();

/// All ignored files, as shown_path(); a folder that is ignored as a whole is one name that ends in '/'.
Awaitable<Result<std::vector<std::string>>> ignored_in(Git& git, Pinned worktree);

inline constexpr std::int64_t k_most_kept = std::int64_t{100} << 20;  ///< bytes of a task's ignored files

struct KeptIgnored {
    std::string commit;     ///< has nothing but the files; empty: there were none
    std::size_t files = 0;  ///< how many it has
    /// Files that were left out because all would be more than k_most_kept: shown_path() and size in bytes.
    std::vector<std::pair<std::string, std::int64_t>> too_large;
};

/// Keeps the ignored files that `patterns`, as lines of .gitignore, name: in a commit under `ref`. What an earlier
/// commit there has becomes its parent.
Awaitable<Result<KeptIgnored>> keep_ignored(Git& git, Pinned worktree, std::vector<std::string> patterns,
                                            std::string ref, std::string message);

/// Makes a folder of the files of such a commit; all of it or nothing.
Awaitable<Result<void>> write_files_of(Git& git, std::string repo, std::string commit, std::string folder);

}  // namespace orange::git
