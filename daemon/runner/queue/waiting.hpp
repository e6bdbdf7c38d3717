#pragma once

#include <string>

#include "common/base/ids.hpp"

namespace orange {

/// Lets code that has made a start possible begin the tasks that wait for one. Queue implements it. It is an order: a
/// freed workspace alone starts nothing, and a cancel deliberately does not give it.
class Waiting {
  public:
    virtual ~Waiting() = default;

    /// Starts queued tasks of a project, the oldest first, as workspaces and limits allow. Returns at once.
    virtual void schedule(const std::string& project) = 0;

    /// True while the task's workspace is prepared, which holds the task's lock and may take minutes.
    virtual bool is_starting(const TaskId& id) const = 0;
};

}  // namespace orange
