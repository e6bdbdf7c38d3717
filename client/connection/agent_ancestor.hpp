#pragma once

namespace orange::connection {

/// Returns true if an agent started this client: an orange-agent is among its ancestors.
bool has_agent_ancestor();

}  // namespace orange::connection
