#pragma once

#include <string>

#include "client/output/terminal.hpp"
#include "common/rpc/task_methods.hpp"

namespace orange::output {

/// Returns the output of `orange run`: the task, its place, what happens next, and how to look at it. `folder` contains
/// all workspaces.
std::string run_page(const rpc::TaskReply& reply, const std::string& folder, const Style& style);

/// Returns a line for an event that a waiting person wants to see; empty for other events.
std::string run_event(const Json& event, const Style& style);

}  // namespace orange::output
