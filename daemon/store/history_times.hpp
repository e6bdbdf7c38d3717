#pragma once

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"

namespace orange::store {

/// The time of the last write to each history. A search for the latest events reads only histories that may have one,
/// and asks the disk about no other. The store reads the times from the files in load(), and notes its own writes from
/// then on.
class HistoryTimes {
  public:
    /// Records an event of that time. An earlier time does not replace a later one.
    void note(const TaskId& id, Timestamp time);
    void forget(const TaskId& id);
    /// Returns all histories with their times, the latest one first. A search may take many turns of the loop.
    std::vector<std::pair<Timestamp, TaskId>> all() const;
    std::size_t size() const { return times_.size(); }

  private:
    struct Earlier {
        bool operator()(const auto& a, const auto& b) const {
            return a.first != b.first ? a.first < b.first : *a.second < *b.second;
        }
    };

    std::unordered_map<TaskId, Timestamp> times_;
    std::set<std::pair<Timestamp, const TaskId*>, Earlier> by_time_;  ///< with the keys of times_
};

}  // namespace orange::store
