#pragma once

#include "common/model/record.hpp"
#include "daemon/agents/harness.hpp"
#include "daemon/runner/agent_control.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// What the role's agent is doing, by its program's state file, else by title and screen of its window.
Awaitable<agents::Activity> activity_of(World& world, const AgentControl& control, const TaskRecord& record, Role role);

}  // namespace orange
