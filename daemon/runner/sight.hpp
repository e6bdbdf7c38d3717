#pragma once

#include <string>
#include <vector>

#include "daemon/engine/needs.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// engine::needs_of() with what the runner sees of the task's agents and its place in the queue. No I/O.
Needs needs_of(const Runner& runner, const TaskRecord& record);

/// engine::offers_of() likewise. `needs` is what needs_of() has found. No I/O.
std::vector<std::string> offers_of(const Runner& runner, const TaskRecord& record, const Needs& needs);

}  // namespace orange
