#pragma once

#include <string>

#include "common/base/clock.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/definition.hpp"

/// The time of a task: how long it was worked on, reviewed, and waited for a place or for its human.
namespace orange::engine {

/// Returns what the task does now, as TimeRow names it; empty if nobody and nothing keeps it: it has ended, or waits
/// for other tasks.
std::string occupation_of(const Definition& definition, const TaskRecord& record);

/// Counts the time up to `now` if the task does something else by now. Called where that may have changed; a call that
/// is missing moves the time to the next one.
void keep_time(TaskRecord& record, const Definition& definition, Timestamp now);

}  // namespace orange::engine
