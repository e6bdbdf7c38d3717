#pragma once

#include <string>
#include <vector>

#include "common/rpc/daemon_methods.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// Returns the reply to `orange daemon status`: facts of the process, the number of tasks by state, and everything that
/// could not be read. `problems` of the daemon come first.
rpc::DaemonStatus::Reply status_of(const Runner& runner, std::vector<std::string> problems);

}  // namespace orange
