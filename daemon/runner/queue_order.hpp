#pragma once

#include <vector>

#include "common/base/ids.hpp"

/// Order and room of one project's queue: pure, from what it looks like at one moment.
namespace orange::queue {

struct Waiting {
    TaskId id;
    bool starting = false;   ///< its start is under way
    bool has_claim = false;  ///< it has a workspace already: one whose start failed while the disk was full
};

struct Look {
    std::vector<Waiting> waiting;  ///< first in, first out
    int free = 0;                  ///< workspaces that nobody has claimed, or that may still be made
    int unclaimed_starts = 0;      ///< starts under way, in the queue or not, that will claim one of them
};

/// Those to be started now, in order: as many as there is room for, and all that need none.
std::vector<TaskId> due(const Look& look);

/// Whether this task may be started at once: there is room, and nobody waits before it.
bool is_next(const Look& look, const TaskId& id);

}  // namespace orange::queue
