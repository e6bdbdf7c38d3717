#pragma once

#include "common/base/result.hpp"
#include "common/model/project.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Whether there are the workflow and the harness that a project names for its tasks. The Error says which is not, and
/// which there are.
Result<void> check_names(const World& world, const Project& project);

/// What is wrong with projects.json: that it cannot be used, or a sentence for each project that names what is not
/// there. Reads it again where somebody has edited it.
Result<std::vector<std::string>> check_projects(const World& world);

/// A sentence for each harness that config.yml limits and that there is not: its limit holds nothing back.
std::vector<std::string> check_harness_limits(const World& world);

}  // namespace orange
