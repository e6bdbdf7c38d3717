#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/rpc/task_methods.hpp"
#include "daemon/async/awaitable.hpp"
#include "daemon/rpc/api.hpp"

namespace orange::rpc {

/// The work with which a new task begins, instead of at the default branch.
struct Origin {
    ForkedWork work;
    std::string branch = {};               ///< the new branch has this name, or this name with a number
    std::optional<std::string> base = {};  ///< the branch is compared with it; nullopt: with the default branch
    store::RecordPtr like = {};            ///< a task whose executor the new one has, exactly
    std::vector<std::string> notes = {};
};

/// `task.create`, for methods that create a task, too.
Awaitable<Result<TaskReply>> create_task(Api& api, TaskCreate params, Call call, std::optional<Origin> origin = {});

/// Returns these sections of a task's TASK.md, each as a part "### NAME" of a context; the text of `## Context` comes
/// first, without a heading.
Result<std::string> context_with(const World& world, const TaskRecord& record,
                                 const std::vector<std::string>& sections);

}  // namespace orange::rpc
