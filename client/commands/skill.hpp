#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/doctor_methods.hpp"

namespace orange::commands {

/// Writes the Orange skill into the skill folders of these agents; without names, of all installed ones. Needs no
/// daemon. Returns 1 if a file could not be written.
Status install_skill(const Context& context, const std::vector<std::string>& harnesses, bool dry_run);
/// Removes the files of install_skill(), for these agents or for all.
Status uninstall_skill(const Context& context, const std::vector<std::string>& harnesses);

/// Returns a finding of doctor for each skill that Orange wrote: `ok` if it is current or was edited, `warning` if
/// another version wrote it. Empty if the skill folders or the shipped text cannot be read.
std::vector<rpc::Finding> skill_findings();

}  // namespace orange::commands
