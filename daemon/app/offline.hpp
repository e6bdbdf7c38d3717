#pragma once

#include "common/config/paths.hpp"

/// Answers of `oranged` to `orange doctor` while no daemon runs. Changes nothing.
namespace orange {

/// Prints a line for each agent except the demo, with tabs between: its name, its program in the caller's PATH (empty
/// if it is not installed), the command that installs it, and the folder of its skills (empty if it has none). Returns
/// 0.
int list_agents(const Paths& paths, const Installation& installation);

/// Prints "config.yml is valid" and returns 0 if a daemon would start with this config.yml; otherwise prints what is
/// wrong and returns 1.
int check_settings(const Paths& paths);

}  // namespace orange
