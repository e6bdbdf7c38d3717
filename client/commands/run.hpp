#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/task_methods.hpp"

namespace orange::commands {

struct RunOptions {
    rpc::TaskCreate params;
    std::vector<std::string> words;  ///< the summary, joined by blanks
    bool wait = false;
    bool attach = false;
};

/// `orange run`: one request that registers the repository, names the branch, creates the task and starts its agent;
/// all of it or nothing. What cannot work (no terminal to attach) is said before it is sent.
int run(Context& context, RunOptions options);

}  // namespace orange::commands
