#pragma once

#include <optional>
#include <string>

#include "client/commands/context.hpp"
#include "common/rpc/event_methods.hpp"
#include "common/rpc/log_methods.hpp"
#include "common/rpc/task_queries.hpp"
#include "common/rpc/watch_methods.hpp"

/// The commands that look at what happens, and may go on looking. What they print goes out at once; they end where
/// their reader has gone, and across restarts of the daemon they go on, saying so on standard error.
namespace orange::commands {

/// task wait: the time passed.
inline constexpr int k_timed_out = 3;

int events(Context& context, rpc::EventsList params, bool follow);
int task_history(Context& context, rpc::TaskHistory params, bool follow);
/// 0: reached; 1: never will be; k_timed_out.
int task_wait(Context& context, rpc::TaskWait params);
int task_log(Context& context, rpc::TaskLog params);
/// Reads the files itself: a log is needed most when no daemon runs.
int log(Context& context, const rpc::LogTail& params, bool follow);

}  // namespace orange::commands
