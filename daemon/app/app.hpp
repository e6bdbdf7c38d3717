#pragma once

#include "common/config/paths.hpp"

namespace orange {

/// The daemon from its start to its end: takes the home, puts the adapters together, serves until told to stop.
/// Returns the exit status: 0 after a stop, 75 where another daemon has the home, 1 for what it cannot start without.
int run_daemon(const Paths& paths, const Installation& installation);

}  // namespace orange
