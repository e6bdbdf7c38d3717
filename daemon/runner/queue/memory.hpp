#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Counts processes of living agents that the kernel has killed because memory was used up, such as compilers and
/// tests, and sees that it lets an agent start no more of them. The agent continues, and the human gets a notice. Exits
/// handles the death of an agent itself.
class Memory : Owner {
  public:
    using Owner::Owner;

    /// Reads how many processes of the task's living agents the kernel has killed, and takes the task's lock only if
    /// there are new ones. A process counts at the second call: at the first one it may be the agent itself, whose end
    /// is not known yet.
    Awaitable<void> update(TaskId id);

    /// Returns the number of runs for which it waits for that second call.
    std::size_t awaited() const { return first_seen_.size(); }

  private:
    Awaitable<void> note(TaskId id, AgentRun seen, std::int64_t kills);
    Awaitable<void> note_refused(TaskId id, AgentRun seen, bool is_counted_by_kernel);
    /// Returns true if a run is as many processes as it may, and nobody was told. The kernel counts in control groups;
    /// in boxes that have none, this counts, and finds out if it is nearly so.
    Awaitable<bool> has_all_processes(AgentRun run, Path run_folder, std::optional<GroupUse> use);

    void forget_ended();

    std::map<std::pair<TaskId, RunId>, std::int64_t> first_seen_;  ///< kills that only one call has found
};

/// Returns the settings of limits to which the kernel does not hold a living agent.
std::vector<std::string> unenforced_limits(const World& world, const AgentRun& run, const Path& run_folder);

inline constexpr const char* k_not_enforced = " is not enforced here";

}  // namespace orange
