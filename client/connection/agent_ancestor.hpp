#pragma once

namespace orange::connection {

/// True where the client was started by an agent: one of its ancestors is orange-agent. One implementation a platform.
bool has_agent_ancestor();

}  // namespace orange::connection
