#include "daemon/runner/project_names.hpp"

#include "common/base/try.hpp"

namespace orange {

Result<void> check_names(const World& world, const Project& project) {
    if (project.workflow) TRY(world.workflows.find(*project.workflow));
    if (project.harness) TRY(world.harnesses.find(*project.harness));
    return {};
}

std::vector<std::string> check_harness_limits(const World& world) {
    std::vector<std::string> problems;
    for (const auto& [name, limit] : world.settings.harness_limits) {
        const auto found = world.harnesses.find(name);
        if (!found) problems.push_back("harness_limits in config.yml: " + found.error().message);
    }
    return problems;
}

Result<std::vector<std::string>> check_projects(const World& world) {
    TRY(world.projects.refresh());
    std::vector<std::string> problems;
    for (const auto& project : world.projects.list()) {
        const auto named = check_names(world, project);
        if (!named) problems.push_back("project " + project.name + ": " + named.error().message);
    }
    return problems;
}

}  // namespace orange
