#pragma once

#include <cstdint>
#include <map>

#include "daemon/async/slots.hpp"
#include "daemon/async/time.hpp"
#include "daemon/runner/transitions/turns.hpp"

namespace orange {

/// Measures the worktrees of agents that have `limits.disk`, and the repositories that agents behind a wall have of
/// their own. Ends the agent that works there when they have more than the limit. Exits tells its human why.
class Disks : Owner {
  public:
    using Owner::Owner;

    /// Begins to measure the task's worktree if one of its agents has a limit, and the last measurement ended a minute
    /// ago. One worktree is measured at a time.
    void look(const TaskId& id);

    /// Returns the bytes that the last measurement found; 0 if there was none.
    std::int64_t last_of(const TaskId& id) const;

  private:
    /// A measurement, or one that is under way.
    struct Measured {
        async::Moment at{};
        bool is_under_way = false;
        std::int64_t bytes = 0;
    };

    Awaitable<void> measure(TaskId id);
    Awaitable<std::int64_t> size_of(std::vector<std::string> folders);
    Awaitable<void> end_if_over(TaskId id, std::int64_t used);
    AgentRun* agent_to_end(TaskRecord& record) const;

    std::map<TaskId, Measured> measured_;
    async::Slots slots_{world_.executor, 1};
};

}  // namespace orange
