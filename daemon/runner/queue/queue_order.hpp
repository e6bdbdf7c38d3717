#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "common/base/ids.hpp"

/// Decides the order in which waiting tasks and agents start, as far as there is room for them. Pure.
namespace orange::queue {

/// A resource with a limited number: "workspace", "worker" or "reviewer" of a project; "harness", "memory" or "login"
/// of a harness.
struct Resource {
    std::string what;
    std::string of;
    auto operator<=>(const Resource&) const = default;
};

/// A pending task, or a task whose agent waits.
struct Candidate {
    TaskId id;
    std::vector<Resource> needs;
    bool starting = false;  ///< its start is under way; `room` no longer has what it takes
};

/// Everything that waits for its start at one moment, and the room for it.
struct Snapshot {
    std::vector<Candidate> waiting;  ///< in the order in which they start
    std::map<Resource, int> room;    ///< how many are left of each; a resource that is not here has no limit
};

/// Returns the tasks that are to be started now, in order. A task without room does not hold up tasks that need other
/// things.
std::vector<TaskId> due(const Snapshot& snapshot);

/// Returns the tasks that only a limit holds back: they would be due if workspaces were the only resource.
std::vector<TaskId> held_back(const Snapshot& snapshot);

/// Returns true if this task may be started at once: there is room, and no task before it waits for the same.
bool is_next(const Snapshot& snapshot, const Candidate& newcomer);

}  // namespace orange::queue
