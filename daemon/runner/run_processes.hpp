#pragma once

#include <cstdint>
#include <vector>

#include "common/model/record.hpp"

namespace orange {

/// The processes below `ancestor`, itself included: a program may sit behind a wrapper of its own.
std::vector<std::int64_t> family_of(std::int64_t ancestor);

/// The processor time in milliseconds of all processes of a run.
std::int64_t cpu_ms_of_all(const AgentRun& run);

/// Returns the same for the commands that the agent runs. A spinner alone may use more than a third of a processor.
std::int64_t cpu_ms_of_commands(const AgentRun& run);

}  // namespace orange
