#include "daemon/runner/transitions/project_names.hpp"

#include <map>

#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange {

namespace {

/// Checks that each harness that a workflow names exists.
Result<void> check_harnesses(const World& world, const engine::Definition& definition) {
    for (const auto& transition : definition.transitions) {
        for (const auto& hook : transition.hooks) {
            const auto role = engine::spawned_role(hook);
            const auto word = engine::harness_word(hook);
            if (!role || !engine::is_another_harness(word, *role) || word == engine::k_second_harness) continue;
            const auto found = world.harnesses.find(word);
            if (!found) return in_context("workflow " + definition.name, found.error());
        }
    }
    return {};
}

}  // namespace

Result<void> check_names(const World& world, const Project& project) {
    if (project.workflow) {
        TRY(const auto definition, world.workflows.find(*project.workflow));
        TRY(check_harnesses(world, *definition));
    }
    if (project.harness) TRY(world.harnesses.find(*project.harness));
    const auto settings = settings_of(world, project);
    for (const auto& name : {*settings.review_harness, *settings.second_review_harness}) {
        if (!name.empty()) TRY(world.harnesses.find(name));
    }
    TRY(world.executors.find(*settings.executor));
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

std::vector<ProjectProblem> project_problems(const World& world) {
    const auto file = world.paths.projects().string();
    if (const auto& problem = world.projects.problem(); !problem.empty()) {
        return {{problem, world.projects.is_broken() ? "cp " + shell_word(file + ".bak") + " " + shell_word(file)
                                                     : std::string()}};
    }
    std::vector<ProjectProblem> problems;
    for (const auto& project : world.projects.list()) {
        const auto named = check_names(world, project);
        if (named) continue;
        problems.push_back(
            {"project " + project.name + ": " + named.error().message, "orange workflow list; orange harness list"});
    }
    std::map<std::string, std::size_t> missing;
    for (const auto& id : world.tasks.active()) {
        const auto record = world.tasks.awake(id);
        if (record && !world.projects.find(record->task.project)) ++missing[record->task.project];
    }
    for (const auto& [name, tasks] : missing) {
        problems.push_back({"project " + name + " is not in " + file + ", and " + counted(tasks, "task") + " of it " +
                                (tasks == 1 ? "has" : "have") +
                                " not ended. Put its entry back, or register its repository again",
                            "orange project add PATH --name " + name});
    }
    return problems;
}

}  // namespace orange
