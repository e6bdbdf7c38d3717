#pragma once

#include <string>

#include "client/output/terminal.hpp"
#include "common/rpc/task_methods.hpp"

namespace orange::output {

/// What `orange run` says: the task, where it is, what happens next and how to look. `folder` is the one of all
/// workspaces.
std::string run_page(const rpc::TaskReply& reply, const std::string& folder, const Style& style);

/// A line for an event that somebody who waits wants to see; empty for the others.
std::string run_event(const Json& event, const Style& style);

}  // namespace orange::output
