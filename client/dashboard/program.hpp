#pragma once

#include "client/dashboard/state.hpp"
#include "client/dashboard/terminal.hpp"
#include "common/config/paths.hpp"

namespace orange::dashboard {

/// Runs the dashboard until its person quits or a signal ends it; an exit status. It brings together the core, the
/// terminal and the connection: one thread, one poll().
///
/// With ORANGE_DASHBOARD_TRACE=FILE it writes a line there for every request, frame and key, for tests that count.
Result<int> run(const Paths& paths, State initial, const TerminalOptions& options);

}  // namespace orange::dashboard
