#pragma once

#include <functional>
#include <vector>

#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "common/model/record.hpp"
#include "daemon/engine/decide.hpp"

/// Tasks that wait for other tasks to be done. Pure.
namespace orange::engine {

/// The tasks that a task waits for.
using BlockersOf = std::function<std::vector<TaskId>(const TaskId&)>;

/// If `task` waited for `blockers`, the way from it back to itself, itself first and last; empty if there is none.
/// Looks at each task once.
std::vector<TaskId> cycle_through(const TaskId& task, const std::vector<TaskId>& blockers, const BlockersOf& of);

/// guard_failed if the task waits for others and the decision is not the end of it; `why` says for which, and the way
/// out.
Result<void> may_leave(const TaskRecord& record, const Definition& definition, const Decision& decision,
                       std::string why);

}  // namespace orange::engine
