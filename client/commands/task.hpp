#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/task_methods.hpp"
#include "common/rpc/task_queries.hpp"

namespace orange::commands {

/// One task, even where the daemon ends before it answers and another one has to be asked.
Result<Json> create_task(Context& context, rpc::TaskCreate params);
/// The exit status after a call that starts an agent: 1 where it was not started, said on standard error; the task is
/// there all the same.
int spawn_status(const Context& context, const rpc::TaskReply& started);
/// Prints such a call's reply; its exit status.
int print_started(const Context& context, const Result<Json>& reply);
/// `words` are the summary, joined by blanks.
int task_create(Context& context, rpc::TaskCreate params, const std::vector<std::string>& words);
/// `everywhere`: every project's, although the caller is in one.
int task_list(Context& context, rpc::TaskList params, bool everywhere);
int task_show(Context& context, rpc::TaskShow params);
int task_why(Context& context, rpc::TaskWhy params);
int task_peek(Context& context, rpc::TaskPeek params);

int task_spawn(Context& context, rpc::TaskSpawn params);
int task_respawn(Context& context, rpc::TaskRespawn params);
int task_complete(Context& context, rpc::TaskComplete params);
int task_stuck(Context& context, rpc::TaskStuck params);
int task_ack(Context& context, rpc::TaskAck params);
/// One word is the message for the caller's own task; of several the first is the id.
int task_send(Context& context, rpc::TaskSend params, std::vector<std::string> words);

/// `branch`: none: leave it. Empty: take over the one that git has. Else: rename or switch.
int task_update(Context& context, rpc::TaskUpdate params);

int task_merge(Context& context, rpc::TaskMerge params, bool yes);
int task_cancel(Context& context, rpc::TaskCancel params, bool yes);
int task_delete(Context& context, rpc::TaskDelete params, bool yes);

/// Becomes tmux; returns only on failure, or with --json.
int task_attach(Context& context, rpc::TaskAttach params);

}  // namespace orange::commands
