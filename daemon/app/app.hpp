#pragma once

#include "common/config/paths.hpp"

namespace orange {

/// Runs the daemon from its start to its end: acquires the home, creates all parts, and serves until it is told to
/// stop. Returns the exit status: 0 after a stop, 75 if another daemon has the home, 1 if it cannot start.
int run_daemon(const Paths& paths, const Installation& installation);

}  // namespace orange
