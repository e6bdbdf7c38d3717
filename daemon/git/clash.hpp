#pragma once

#include <string>
#include <vector>

#include "common/model/clash.hpp"
#include "daemon/git/merge.hpp"

/// Finds out whether two branches could be merged, before anybody merges them. Nothing of it stays in the repository:
/// what git makes for a trial lies in a folder of its own, and is removed with it.
namespace orange::git {

/// The paths that a branch changes, as far as they decide whether it can clash with another one.
struct ChangedPaths {
    std::vector<std::string> paths;  ///< sorted; a renamed file counts with both names
    std::vector<std::string> left;   ///< folders out of which files were removed or renamed, sorted; not the root
    std::vector<std::string> met;    ///< folders into which files came, sorted; not the root
    bool all = false;                ///< too many to be kept: it counts as changing everything
};

/// Paths that are kept of one branch.
inline constexpr std::size_t k_most_changed_paths = 5'000;

/// Returns the paths in which two commits differ.
Awaitable<Result<ChangedPaths>> changed_paths(Git& git, std::string repo, std::string from, std::string to);

/// Returns the paths of a worktree that are not committed, also of files that git does not know yet.
Awaitable<Result<ChangedPaths>> uncommitted_paths(Git& git, Pinned worktree);

/// Returns false if git would merge the two for certain: they have no path in common, none has a file where the other
/// has a folder, and none has moved files out of a folder into which the other brings some.
bool may_meet(const ChangedPaths& a, const ChangedPaths& b);

/// Returns the paths that both change; empty if one of them changes too many.
std::vector<std::string> common_paths(const ChangedPaths& a, const ChangedPaths& b);

/// Merges that are tried, one git process for each. The caller needs no lock.
class Trials {
  public:
    /// `place`: only `repo`, `git_dir` and `scratch` count. The scratch folder lives as long as this object.
    Trials(Git& git, MergeRequest place) : git_(git), place_(std::move(place)) {}
    Trials(const Trials&) = delete;
    Trials& operator=(const Trials&) = delete;
    ~Trials() { (void)remove_folder(git_, place_.scratch); }

    /// Makes the scratch folder with the .gitattributes of `commit`, which decide how files are merged.
    Awaitable<Result<void>> begin(std::string commit);
    /// Returns the files that a merge of `theirs` into `ours` would leave to a person, sorted, as `git merge` in a
    /// checkout of `ours` does; empty if there are none.
    Awaitable<Result<std::vector<ClashFile>>> clash(std::string ours, std::string theirs);

  private:
    Awaitable<Result<void>> count_hunks(std::string tree, std::vector<ClashFile>& files);

    Git& git_;
    MergeRequest place_;
};

}  // namespace orange::git
