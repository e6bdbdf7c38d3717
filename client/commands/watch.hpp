#pragma once

#include <optional>
#include <string>

#include "client/commands/context.hpp"
#include "common/rpc/event_methods.hpp"
#include "common/rpc/log_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/watch_methods.hpp"

/// The commands that show events and output, and may follow them. Each line is printed at once. The commands end when
/// their reader has gone, and continue across restarts of the daemon, which they report on standard error.
namespace orange::commands {

/// Exit status of `task wait` if the time passed.
inline constexpr int k_timed_out = 3;

Status events(Context& context, rpc::EventsList params, bool follow);
Status task_history(Context& context, rpc::TaskHistory params, bool follow);
/// Verifies the chain of a task's history. Returns 1 if it does not hold.
Status verify_history(Context& context, const rpc::TaskHistory& selected);
/// Returns 0 if the state was reached, 1 if it cannot be reached any more, otherwise k_timed_out.
Status task_wait(Context& context, rpc::TaskWait params);
Status task_log(Context& context, rpc::TaskLog params);
/// Reads the log's files without the daemon, because a log is needed most when no daemon runs.
Status log(Context& context, const rpc::LogTail& params, bool follow);

}  // namespace orange::commands
