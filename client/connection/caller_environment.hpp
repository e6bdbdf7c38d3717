#pragma once

#include "common/rpc/caller_environment.hpp"

namespace orange::connection {

/// PATH and the names of the variables of whoever calls: for methods that look for agents' programs.
rpc::CallerEnvironment caller_environment();

}  // namespace orange::connection
