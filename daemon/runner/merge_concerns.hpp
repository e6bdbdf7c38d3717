#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Something that a human has to confirm before a merge.
struct MergeConcern {
    std::string text;         ///< the fact, as the merge commit and the history repeat it
    std::string question;     ///< for a terminal
    std::string advice = {};  ///< what to do instead: a few words, and its command on a line below
};

/// All that a human has to confirm before this commit is merged, but for a state that is not reviewed. `may_fetch`: the
/// remotes of submodules are asked.
Awaitable<Result<std::vector<MergeConcern>>> merge_concerns(World& world, TaskRecord record, std::string tip,
                                                            bool may_fetch);

/// needs_force, with what there is to confirm. `command`: the merge, which becomes one with --force.
Error confirmation(const std::string& command, const std::vector<MergeConcern>& concerns, const std::string& tip);

}  // namespace orange
