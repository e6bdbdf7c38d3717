#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/project.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Checks that the workflow, the harness and the executor that a project names for its tasks exist. The Error names the
/// missing one and the existing ones.
Result<void> check_names(const World& world, const Project& project);

struct ProjectProblem {
    std::string text;
    std::string command;  ///< the command that helps
};

/// Returns the problems of projects.json: the file cannot be used, a project names a workflow or harness that does not
/// exist, or a project is missing while its tasks have not ended.
std::vector<ProjectProblem> project_problems(const World& world);

/// Returns a sentence for each harness that config.yml limits but that does not exist: its limit has no effect.
std::vector<std::string> check_harness_limits(const World& world);

}  // namespace orange
