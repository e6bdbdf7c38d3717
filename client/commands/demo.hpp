#pragma once

#include "client/commands/context.hpp"

namespace orange::commands {

/// The options of `orange demo`.
struct DemoOptions {
    bool keep = false;      ///< keep the repository, the project and the task afterwards
    bool crash = false;     ///< the agent crashes once
    bool delegate = false;  ///< the agent splits its task into three
    int timeout_seconds = 60;
};

/// Runs `orange demo`: one task from its creation to done, in a scratch repository, by the demo agent (no network, no
/// key). The demo prints each event as it happens, then the merge commit and the free workspace. Status 1, with the
/// output of `task why`, if the task is not done in time.
Status demo(Context& context, const DemoOptions& options);

}  // namespace orange::commands
