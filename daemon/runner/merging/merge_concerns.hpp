#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// A fact that a human has to confirm before a merge.
struct MergeConcern {
    std::string text;         ///< the fact, as the merge commit and the history repeat it
    std::string question;     ///< for a terminal
    std::string advice = {};  ///< an alternative: a few words, and each of its commands on a line below
};

/// Returns all that a human has to confirm before this commit is merged, except an unreviewed state. This is the list:
/// nobody asks about what is not here. Two more questions may come up while the merge commit is made
/// (merge_commit.cpp): a commit that cannot be signed, and no commit of the task's own. `may_fetch`: the
/// remotes of submodules may be queried.
Awaitable<Result<std::vector<MergeConcern>>> merge_concerns(World& world, TaskRecord record, std::string tip,
                                                            bool may_fetch);

/// Returns the error needs_force for these concerns. `command` is the merge command without --force.
Error confirmation(const std::string& command, const std::vector<MergeConcern>& concerns, const std::string& tip);

}  // namespace orange
