#pragma once

#include <vector>

#include "common/model/usage.hpp"
#include "common/rpc/harness_methods.hpp"
#include "daemon/agents/usage.hpp"

namespace orange::rpc {

/// Returns what was read of a run: the numbers, and how far its files were read, but nothing of what they say.
UsageReading usage_reading(const std::vector<agents::UsageFile>& files, const RunUsage& usage);

}  // namespace orange::rpc
