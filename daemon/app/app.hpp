#pragma once

#include "common/config/paths.hpp"

namespace orange {

/// The daemon from its start to its end: takes the home, puts the adapters together, serves until told to stop.
/// Returns the exit status: 0 after a stop, 75 where another daemon has the home, 1 for what it cannot start without.
int run_daemon(const Paths& paths, const Installation& installation);

/// Prints a line for each agent but the demo, for `orange doctor` where no daemon runs: its name, its program in the
/// caller's PATH (empty: not installed), the command that installs it; tabs between them.
int list_agents(const Paths& paths, const Installation& installation);

/// Whether a daemon would start with this config.yml: prints "config.yml is valid", or what is wrong with it and
/// returns
/// 1. Changes nothing; `orange doctor` calls it where no daemon runs.
int check_settings(const Paths& paths);

}  // namespace orange
