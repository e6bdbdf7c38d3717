#pragma once

#include <string>
#include <vector>

#include "client/commands/uploads.hpp"
#include "common/rpc/task_methods.hpp"

namespace orange::commands {

/// The options of `orange run`.
struct RunOptions {
    rpc::TaskCreate params;
    std::vector<std::string> words;  ///< the summary, joined by blanks
    FileOptions files;
    bool wait = false;
    bool attach = false;
};

/// Runs `orange run`: one request that registers the repository, names the branch, creates the task and starts its
/// agent, all or nothing. Problems that the client can see (such as no terminal to attach) are reported before the
/// request.
Status run(Context& context, RunOptions options);

}  // namespace orange::commands
