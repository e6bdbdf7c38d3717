#pragma once

namespace orange::connection {

/// True if an agent started this client: one of its ancestors is orange-agent.
bool has_agent_ancestor();

}  // namespace orange::connection
