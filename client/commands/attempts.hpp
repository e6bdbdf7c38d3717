#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/attempt_methods.hpp"

/// `orange compare` and `orange pick`: several agents have tried the same task, and a person keeps one of their works.
namespace orange::commands {

struct CompareOptions {
    std::vector<std::string> two;  ///< show the difference between these two attempts; empty: compare all
    bool stat = false;             ///< of the difference only how much each file changes
};
/// Prints the attempts side by side. For the difference of two it replaces the process by git, as task_diff() does.
Status task_compare(Context& context, rpc::TaskCompare params, const CompareOptions& options);

/// Picks an attempt, after a question that names what ends. Without a terminal it needs `yes`.
Status task_pick(Context& context, rpc::TaskPick params, bool yes);

/// Returns true for an error that says that no attempt is picked yet, or another one than the task of the call.
bool is_not_picked(const Error& error);
/// Asks a person at a terminal to pick the attempt that `refused` is about, or one of the task's, and picks it. An
/// error if they do not want to.
Result<void> picked_after_question(Context& context, const Error& refused);

}  // namespace orange::commands
