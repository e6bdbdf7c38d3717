#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/model/record.hpp"

namespace orange::store {

/// Finds the task of a process: the part of the store's index that every call which changes something needs. Every
/// query is a look-up whose cost does not depend on the number of tasks.
class RunIndex {
  public:
    void add(const TaskRecord& record);
    /// Removes a record; `record` has to be as it was added.
    void remove(const TaskRecord& record);

    /// Returns the tasks with a run whose orange-agent had that pid. There may be several, if the kernel reused the pid
    /// before the end of the older run was handled; the start time in the record tells them apart.
    std::vector<TaskId> with_shim(std::int64_t pid) const;
    /// Returns true if a run is recorded in the tmux server with that pid and start time (0 in either: unknown, matches
    /// any).
    bool has_server(std::int64_t pid, std::int64_t start_time) const;
    std::size_t size() const { return shims_.size(); }
    /// Returns the tasks that have a run.
    const std::set<TaskId>& tasks() const { return tasks_; }

  private:
    std::set<TaskId> tasks_;
    std::set<std::pair<std::int64_t, TaskId>> shims_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> servers_;  ///< runs by pid and start time
};

}  // namespace orange::store
