#include "daemon/rpc/methods/start_notes.hpp"

#include <algorithm>

#include "daemon/rpc/methods/harness_environment.hpp"
#include "daemon/runner/agent_control.hpp"

namespace orange::rpc {
namespace {

bool has_reviewer(const engine::Definition& definition) {
    return std::ranges::any_of(definition.transitions, [](const auto& transition) {
        return std::ranges::any_of(transition.hooks,
                                   [](const auto& hook) { return engine::spawned_role(hook) == Role::reviewer; });
    });
}

/// The first option that the agent gets only with full permissions; empty if it has no others.
std::string full_option(const agents::Harness& harness) {
    const auto full = harness.argv.find(agents::argv_name(harness, "full"));
    const auto reduced = harness.argv.find(agents::argv_name(harness, "reduced"));
    if (full == harness.argv.end() || reduced == harness.argv.end() || full == reduced) return {};
    for (const auto& argument : full->second) {
        const bool is_option = argument.size() > 2 && argument.starts_with("--");
        if (is_option && std::ranges::find(reduced->second, argument) == reduced->second.end()) return argument;
    }
    return {};
}

std::string worker_note(const agents::Harness& harness, const std::string& permissions) {
    const auto option = full_option(harness);
    const auto asks = harness.mode == agents::Mode::oneshot ? "restricts it" : "makes it ask";
    if (permissions == "full" && !option.empty()) {
        return harness.name + " runs with " + option + " in its worktree; --permissions reduced " + asks;
    }
    if (permissions == "full") return harness.name + " works in its worktree without asking";
    if (agents::argv_name(harness, permissions) == agents::argv_name(harness, "full")) {
        return harness.name + " works in its worktree without asking: it has no reduced permissions";
    }
    return harness.name + " runs with reduced permissions" +
           (harness.mode == agents::Mode::oneshot ? "" : " and asks in its window for more");
}

std::vector<std::string> harnesses_of(const Task& task, bool reviews) {
    std::vector<std::string> names = {task.harness};
    if (reviews && task.review_harness != task.harness) names.push_back(task.review_harness);
    return names;
}

}  // namespace

std::vector<std::string> start_notes(Api& api, const TaskRecord& record) {
    auto& world = api.world();
    const auto* project = world.projects.find(record.task.project);
    const auto definition = api.runner().turns.definition_of(record.task);
    const auto worker = world.harnesses.find(record.task.harness);
    if (!project || !definition || !worker) return {};
    const bool reviews = has_reviewer(**definition);
    const auto permissions = permissions_of(**definition, record.task, Role::worker);
    std::vector<std::string> notes = {worker_note(worker->harness, permissions)};
    std::string where = reviews ? record.task.review_harness + " reviews its work" : std::string();
    if (record.task.workspace) {
        where += (where.empty() ? "" : "; ") + std::string("workspace ") + *record.task.workspace + ", " +
                 std::to_string(world.pool.free(*project)) + " of " + std::to_string(project->pool_size) +
                 " still free";
    }
    if (!where.empty()) notes.push_back(std::move(where));
    for (const auto& name : harnesses_of(record.task, reviews)) {
        const auto entry = world.harnesses.find(name);
        if (!entry || !entry->harness.trust.is_asked()) continue;
        const auto trusted = is_trusted(world, *project, *entry);
        if (trusted && *trusted) continue;
        notes.push_back(name + " will ask in its window whether it may trust this repository. To answer before:\n" +
                        "  orange harness trust " + name + " --project " + project->name);
    }
    return notes;
}

std::string without_consent(World& world, const Project& project, const Task& task) {
    for (const auto& name : harnesses_of(task, true)) {
        const auto entry = world.harnesses.find(name);
        if (entry && !entry->harness.trust.args.empty() && !project.lets_trust(name)) return name;
    }
    return {};
}

}  // namespace orange::rpc
