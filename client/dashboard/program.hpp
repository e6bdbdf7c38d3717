#pragma once

#include "client/dashboard/state.hpp"
#include "client/dashboard/terminal.hpp"
#include "client/hosts/hosts_file.hpp"
#include "common/config/paths.hpp"

namespace orange::dashboard {

/// Runs the dashboard until its person quits or a signal ends it; an exit status. It brings together the core, the
/// terminal and the connections, to the daemon of this machine and to those of `hosts`: one thread, one poll().
///
/// With ORANGE_DASHBOARD_TRACE=FILE it writes a line there for every request, frame and key, for tests that count.
Result<int> run(const Paths& paths, State initial, const TerminalOptions& options,
                const std::vector<hosts::Host>& hosts);

}  // namespace orange::dashboard
