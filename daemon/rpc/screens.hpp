#pragma once

#include <functional>
#include <map>
#include <utility>

#include "common/base/ids.hpp"

namespace orange::rpc {

/// The subscribers to screens of tasks. The monitor reports when an agent writes to its terminal.
class Screens {
  public:
    /// Calls `listener` whenever an agent of the task has written. Returns a number for unlisten().
    int listen(TaskId task, std::function<void()> listener) {
        listeners_.emplace(next_, std::pair{std::move(task), std::move(listener)});
        return next_++;
    }
    void unlisten(int number) { listeners_.erase(number); }
    /// Called by the monitor when an agent of the task has written to its terminal.
    void wrote(const TaskId& task) const {
        const auto listeners = listeners_;  // a listener may remove itself while it is called
        for (const auto& [number, each] : listeners) {
            if (each.first == task && listeners_.contains(number)) each.second();
        }
    }

  private:
    std::map<int, std::pair<TaskId, std::function<void()>>> listeners_;
    int next_ = 1;
};

}  // namespace orange::rpc
