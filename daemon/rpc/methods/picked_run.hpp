#pragma once

#include <optional>
#include <string>

#include "daemon/rpc/api.hpp"

namespace orange::rpc {

/// Returns the run of the agent whose window is meant: of the role, or else the reviewer's if it runs, or else the
/// worker's. The Error for a missing agent contains the command that starts it; invalid_argument for a word that is no
/// role.
Result<AgentRun> pick_run(Api& api, const TaskId& id, const std::optional<std::string>& role_name);

}  // namespace orange::rpc
