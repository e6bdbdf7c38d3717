#pragma once

#include <optional>
#include <string>

#include "daemon/rpc/api.hpp"

namespace orange::rpc {

/// The agent of the task whose window is meant: of the role, else the reviewer's if there is one, else the worker's. An
/// Error says what starts it, or that the role is no role.
Result<AgentRun> pick_run(Api& api, const TaskId& id, const std::optional<std::string>& role_name);

}  // namespace orange::rpc
