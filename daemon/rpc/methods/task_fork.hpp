#pragma once

#include "daemon/rpc/methods/draft.hpp"
#include "daemon/rpc/methods/task_create.hpp"

namespace orange::rpc {

/// Returns what a task begins with that takes over a conversation (`from_session`): the files of the caller's worktree,
/// and the conversation. Every refusal comes before anything is written.
Awaitable<Result<Origin>> origin_of_session(Api& api, const TaskCreate& params, const Draft& draft);

}  // namespace orange::rpc
