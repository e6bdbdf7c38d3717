#pragma once

#include <string>
#include <vector>

#include "client/commands/context.hpp"
#include "common/rpc/doctor_methods.hpp"

namespace orange::commands {

/// Writes the Orange skill where these agents look for skills; without names, where the installed ones do. Needs no
/// daemon. 1 if one of them could not be written.
int install_skill(const Context& context, const std::vector<std::string>& harnesses, bool dry_run);
/// Removes what install_skill() wrote, of these agents or of all.
int uninstall_skill(const Context& context, const std::vector<std::string>& harnesses);

/// Returns doctor's findings about the skills that install_skill() has written: those that are older than this Orange.
std::vector<rpc::Finding> skill_findings();

}  // namespace orange::commands
