#pragma once

#include "common/rpc/task_methods.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/rpc/api.hpp"

namespace orange::rpc {

/// `task.create`, for methods that create a task, too.
Awaitable<Result<TaskReply>> create_task(Api& api, TaskCreate params, Call call);

/// Returns these sections of a task's TASK.md, each as a part "### NAME" of a context; the text of `## Context` comes
/// first, without a heading.
Result<std::string> context_with(const World& world, const TaskRecord& record,
                                 const std::vector<std::string>& sections);

}  // namespace orange::rpc
