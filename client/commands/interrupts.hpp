#pragma once

namespace orange::commands {

/// Lets SIGINT, SIGTERM and SIGHUP only interrupt the present wait from now on. The waiting code checks interrupted()
/// and ends properly.
void catch_interrupts();
bool interrupted();

}  // namespace orange::commands
