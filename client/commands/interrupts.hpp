#pragma once

namespace orange::commands {

/// From now on SIGINT, SIGTERM and SIGHUP only interrupt the present wait. The waiting code checks interrupted() and
/// ends properly.
void catch_interrupts();
bool interrupted();

}  // namespace orange::commands
