#pragma once

#include "daemon/shim/spec.hpp"

namespace orange::shim {

/// Runs one agent from its start to its end, and returns the status to exit with.
int run_agent(const RunSpec& spec);

}  // namespace orange::shim
