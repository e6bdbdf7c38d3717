#pragma once

#include <chrono>
#include <string>

#include "daemon/async/keyed_mutex.hpp"
#include "daemon/runner/runner.hpp"

/// For the files of a merge alone: merge_task.cpp (what has to hold before), merge_steps.cpp (the phases),
/// merge_commit.cpp (what is published) and merge_end.cpp (what follows, and what a failure leaves).
namespace orange {

/// For a merge that somebody waits for.
inline constexpr std::chrono::milliseconds k_fetch_deadline = std::chrono::seconds(60);

struct Runner::MergeRun {
    TaskRecord& record;
    Project project;
    git::MergeRequest request;
    MergeOutcome outcome;
    async::Mutex::Lock turn;  ///< one merge of a repository at a time
    bool looked = false;      ///< whether the work is there already was asked in full
    std::string remote = {};  ///< where origin's target was at the last look
    bool force = false;       ///< a human has confirmed whatever is found out
    bool arriving = false;    ///< the commit may have been published: nothing is undone on a mere suspicion
    MergeRecord& merge() { return *record.merge; }
};

}  // namespace orange
