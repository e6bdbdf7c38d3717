#pragma once

#include "common/config/paths.hpp"

/// What `orange doctor` asks of `oranged` while no daemon runs. Changes nothing.
namespace orange {

/// Prints a line for each agent but the demo: its name, its program in the caller's PATH (empty: not installed), the
/// command that installs it, the folder of its skills (empty: it names none); tabs between them. Returns 0.
int list_agents(const Paths& paths, const Installation& installation);

/// Whether a daemon would start with this config.yml: prints "config.yml is valid", or what is wrong with it and
/// returns 1.
int check_settings(const Paths& paths);

}  // namespace orange
