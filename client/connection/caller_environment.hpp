#pragma once

#include "common/rpc/caller_environment.hpp"

namespace orange::connection {

/// Returns the caller's PATH and the names of its variables, for methods that search agents' programs.
rpc::CallerEnvironment caller_environment();

}  // namespace orange::connection
