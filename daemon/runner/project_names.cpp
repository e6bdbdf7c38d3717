#include "daemon/runner/project_names.hpp"

#include "common/base/try.hpp"

namespace orange {

Result<void> check_names(const World& world, const Project& project) {
    if (project.workflow) TRY(world.workflows.find(*project.workflow));
    if (project.harness) TRY(world.harnesses.find(*project.harness));
    return {};
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
