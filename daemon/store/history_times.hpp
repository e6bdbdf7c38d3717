#pragma once

#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"

namespace orange::store {

/// When each history was last written to: whoever looks for the last events reads those histories alone that may have
/// one, and asks the disk for none of the others. The store reads the times from the files when it loads, and notes its
/// own writes from then on.
class HistoryTimes {
  public:
    /// The history has an event of that time. The later of two times stays.
    void note(const TaskId& id, Timestamp time);
    void forget(const TaskId& id);
    /// The one that was written to last comes first. Calls `visit` until it returns false.
    void each(const std::function<bool(const TaskId&, Timestamp)>& visit) const;
    std::size_t size() const { return times_.size(); }

  private:
    std::unordered_map<TaskId, Timestamp> times_;
    std::set<std::pair<Timestamp, TaskId>> by_time_;
};

}  // namespace orange::store
