#pragma once

#include "daemon/engine/needs.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// engine::needs_of() with what the runner sees of the task's agents and its place in the queue. No I/O.
Needs needs_of(const Runner& runner, const TaskRecord& record);

}  // namespace orange
