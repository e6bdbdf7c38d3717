#pragma once

#include <string>
#include <vector>

#include "daemon/engine/needs.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// Returns engine::needs_of() for what the runner knows of the task's agents and its place in the queue. No I/O.
Needs needs_of(const Runner& runner, const TaskRecord& record);

/// Returns engine::offers_of() in the same way. `needs` is the result of needs_of(). No I/O.
std::vector<std::string> offers_of(const Runner& runner, const TaskRecord& record, const Needs& needs);

}  // namespace orange
