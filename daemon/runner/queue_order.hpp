#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "common/base/ids.hpp"

/// Order and room of everything that waits for its start: pure, from what it looks like at one moment.
namespace orange::queue {

/// What there is only so much of: "workspace" of a project, "worker" or "reviewer" of a project, "harness", "memory",
/// "login" of a harness.
struct Resource {
    std::string what;
    std::string of;
    auto operator<=>(const Resource&) const = default;
};

/// A pending task, or a task whose agent waits.
struct Waiting {
    TaskId id;
    std::vector<Resource> needs;
    bool starting = false;  ///< its start is under way; what it takes is not in `room` any more
};

struct Look {
    std::vector<Waiting> waiting;  ///< in the order in which they start
    std::map<Resource, int> room;  ///< what is left of each; one that is not here has no limit
};

/// Those to be started now, in order. One that finds no room holds up nobody who needs something else.
std::vector<TaskId> due(const Look& look);

/// Those that would be due if workspaces were all that there is only so much of.
std::vector<TaskId> held_back(const Look& look);

/// Whether this task may be started at once: there is room, and nobody before it waits for the same.
bool is_next(const Look& look, const Waiting& newcomer);

}  // namespace orange::queue
