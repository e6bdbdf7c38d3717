#pragma once

#include <string>
#include <vector>

#include "daemon/rpc/api.hpp"

namespace orange::rpc {

/// Returns a few sentences about what the creation of a task starts: the agents with their permissions, whether they
/// will ask for trust, and how much room is left in the pool.
std::vector<std::string> start_notes(Api& api, const TaskRecord& record);

/// Returns the first of a task's harnesses that has no consent and can take the answer about trust on its command
/// line; empty if there is none. `only_first`: only harnesses whose question cannot be answered in their window.
std::string without_consent(World& world, const Project& project, const std::vector<std::string>& harnesses,
                            bool only_first);

/// Returns needs_force if the project has no setup command and its repository brings one to which no person has agreed
/// yet. The details contain the question, and the entry of `trusted` that a "yes" adds.
Result<void> check_setup_agreed(const Project& project);

}  // namespace orange::rpc
