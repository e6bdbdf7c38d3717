#pragma once

#include "client/commands/context.hpp"

namespace orange::commands {

struct DemoOptions {
    bool keep = false;      ///< leave repository, project and task for a look around
    bool crash = false;     ///< the agent crashes once
    bool delegate = false;  ///< the agent splits its task into three
    int timeout_seconds = 60;
};

/// `orange demo`: one task from create to done in a scratch repository, worked on by the demo agent (no network, no
/// key), each event printed as it happens; then the merge commit and the freed workspace are shown. Status 1, with what
/// `task why` says, where the task is not done in time.
int demo(Context& context, const DemoOptions& options);

}  // namespace orange::commands
