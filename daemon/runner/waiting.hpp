#pragma once

#include <string>

#include "common/base/ids.hpp"

namespace orange {

/// The tasks that wait for a workspace, for those who free one (Queue).
class Waiting {
  public:
    virtual ~Waiting() = default;

    /// Starts queued tasks of a project, first in first out, as workspaces allow. Returns at once.
    virtual void kick(const std::string& project) = 0;

    /// Its workspace is being made ready; that holds the task's lock, and may take minutes.
    virtual bool is_starting(const TaskId& id) const = 0;
};

}  // namespace orange
