#pragma once

namespace orange::commands {

/// From now on SIGINT, SIGTERM and SIGHUP end only the wait that they come into; interrupted() tells, and whoever waits
/// ends properly.
void catch_interrupts();
bool interrupted();

}  // namespace orange::commands
