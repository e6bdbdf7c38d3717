#pragma once

#include <string>
#include <vector>

#include "daemon/rpc/api.hpp"

namespace orange::rpc {

/// What the creation of a task starts, in a few sentences: which agents with which permissions, whether they will ask
/// for trust, and how much room is left in the pool.
std::vector<std::string> start_notes(Api& api, const TaskRecord& record);

/// The first of the task's harnesses that takes the answer about trust on its command line and has no consent; empty:
/// none. `only_first`: of those that cannot be answered in their window.
std::string without_consent(World& world, const Project& project, const Task& task, bool only_first);

/// needs_force if the project has no setup of its own, and its repository brings one to which nobody has agreed: with
/// the question, and what `trust` has to hold for a yes.
Result<void> check_setup_agreed(const Project& project);

}  // namespace orange::rpc
