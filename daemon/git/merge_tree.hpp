#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/git/merge.hpp"

/// `git merge-tree`, for the other files of this folder: merge_build.cpp has the essay.
namespace orange::git {

/// A merge of two commits that has no commit of its own.
struct MergedTree {
    std::string tree;
    std::vector<std::string> conflicts = {};  ///< paths that git cannot merge, sorted; the tree has marks in them
};

/// Makes `request.scratch` with the .gitattributes of a commit. The caller removes it.
Awaitable<Result<void>> make_scratch(Git& git, const MergeRequest& request, std::string base);

/// Returns the environment in which git writes objects into the scratch folder, and reads the repository's, too.
/// `request.git_dir` is set.
std::map<std::string, std::string> apart_from(const MergeRequest& request);

/// Merges `request.tip` into `base`, in the scratch folder. `apart`: the objects stay there (apart_from()),
/// and git has one minute: others wait for the next trial.
Awaitable<Result<MergedTree>> merge_trees(Git& git, const MergeRequest& request, std::string base, bool apart);

}  // namespace orange::git
