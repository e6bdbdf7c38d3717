#include "daemon/runner/project_names.hpp"

namespace orange {

Result<void> check_names(const World& world, const Project& project) {
    if (project.workflow) {
        if (auto found = world.workflows.find(*project.workflow); !found) return found.error();
    }
    if (project.harness) {
        if (auto found = world.harnesses.find(*project.harness); !found) return found.error();
    }
    return {};
}

Result<std::vector<std::string>> check_projects(const World& world) {
    if (auto read = world.projects.refresh(); !read) return read.error();
    std::vector<std::string> problems;
    for (const auto& project : world.projects.list()) {
        const auto named = check_names(world, project);
        if (!named) problems.push_back("project " + project.name + ": " + named.error().message);
    }
    return problems;
}

}  // namespace orange
