#pragma once

#include <string>
#include <vector>

#include "common/rpc/daemon_methods.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// What `orange daemon status` says of the process, the tasks and what could not be read. The daemon's own problems
/// come first.
rpc::DaemonStatus::Reply status_of(const Runner& runner, std::vector<std::string> problems);

}  // namespace orange
