#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/project.hpp"
#include "daemon/runner/world.hpp"

namespace orange {

/// Fails if the workflow, the harness or the executor that a project has for its tasks is not there. The Error says
/// which there are.
Result<void> check_names(const World& world, const Project& project);

struct ProjectProblem {
    std::string text;
    std::string command;  ///< that helps
};

/// Names what is wrong with projects.json: it cannot be used; a project names what is not there; a project that is
/// missing while its tasks have not ended.
std::vector<ProjectProblem> project_problems(const World& world);

/// A sentence for each harness that config.yml limits and that there is not: its limit holds nothing back.
std::vector<std::string> check_harness_limits(const World& world);

}  // namespace orange
