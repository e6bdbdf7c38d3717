#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/model/record.hpp"

namespace orange::store {

/// Which task's agent a process is: the part of the store's index that is asked with each call that changes something.
/// Every question is a look-up, however many tasks there are.
class RunIndex {
  public:
    void add(const TaskRecord& record);
    /// `record` as it was added.
    void remove(const TaskRecord& record);

    /// Tasks with a run whose orange-agent had that pid; more than one where the pid was reused before the older run's
    /// end was dealt with: the start time in the record tells.
    std::vector<TaskId> with_shim(std::int64_t pid) const;
    /// A run is noted as in the care of the tmux server with that pid and start time (of either, 0: unknown, any).
    bool has_server(std::int64_t pid, std::int64_t start_time) const;
    std::size_t size() const { return shims_.size(); }
    /// The number of runs, also of those that have no process yet or no longer.
    std::size_t count() const { return count_; }
    /// The tasks that have a run.
    const std::set<TaskId>& tasks() const { return tasks_; }

  private:
    std::size_t count_ = 0;
    std::set<TaskId> tasks_;
    std::set<std::pair<std::int64_t, TaskId>> shims_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> servers_;  ///< runs by pid and start time
};

}  // namespace orange::store
