#pragma once

#include "daemon/runner/pulls/pull_requests.hpp"
#include "daemon/runner/runner.hpp"

namespace orange {

/// `orange task create-pr`: pushes the task's branch, and opens its pull request or adopts the open one. If the
/// workflow has a transition from the task's state that opens one (the action create_pr), the task takes it. conflict
/// if the task has not begun or has ended, or if a merge of the task is not finished.
Awaitable<Result<Outcome>> create_pull_request(Runner& runner, TaskId id, pulls::PullText text, Caller by);

}  // namespace orange
