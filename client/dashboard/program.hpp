#pragma once

#include "client/dashboard/state.hpp"
#include "client/dashboard/terminal.hpp"
#include "client/hosts/hosts_file.hpp"
#include "common/config/paths.hpp"

namespace orange::dashboard {

/// Runs the dashboard until its person quits or a signal ends it, and returns an exit status. The program connects the
/// core, the terminal, and the daemons of this machine and of `hosts`, in one thread with one poll().
///
/// With ORANGE_DASHBOARD_TRACE=FILE it writes a line there for every request, frame and key, for tests that count.
Result<int> run(const Paths& paths, State initial, const TerminalOptions& options,
                const std::vector<hosts::Host>& hosts);

}  // namespace orange::dashboard
