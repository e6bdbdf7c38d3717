#include "daemon/rpc/methods/subtasks.hpp"

#include <algorithm>
#include <vector>

#include "common/base/try.hpp"
#include "daemon/engine/permissions.hpp"
#include "daemon/runner/agents/agent_control.hpp"
#include "daemon/runner/family/family.hpp"

namespace orange::rpc {
namespace {

bool is_agent(const Caller& by) {
    return by.role == Role::worker || by.role == Role::reviewer;
}

/// Returns the options of the call that an agent may not choose, as people type them.
std::vector<std::string> chosen_by_humans(const TaskCreate& params, const TaskRecord& parent, const Project& project) {
    std::vector<std::string> chosen;
    const auto& task = parent.task;
    const auto add = [&](bool is_chosen, const char* name) {
        if (is_chosen) chosen.emplace_back(name);
    };
    add(params.parent && *params.parent != task.id.value, "--parent");
    add(params.project && *params.project != task.project, "--project");
    add(params.workflow && *params.workflow != task.workflow, "--workflow");
    add(params.review_harness && *params.review_harness != task.review_harness, "--review-harness");
    add(params.review_effort.has_value(), "--review-effort");
    add(params.model.has_value(), "--model");
    add(params.review_model.has_value(), "--review-model");
    add(params.executor.has_value(), "--executor");
    add(params.executor_options.has_value(), "--executor-options");
    add(params.budget.has_value(), "--budget");
    add(params.permits.has_value(), "--permits");
    add(params.permissions && *params.permissions != "reduced" && params.permissions != task.permissions,
        "--permissions");
    add(params.status.has_value(), "--status");
    add(params.like.has_value(), "--like");
    add(params.base && *params.base != project.default_branch, "--base");
    add(params.on.has_value(), "--on");
    add(!params.attempts.empty(), "--attempts");
    add(params.from_session.has_value(), "--from-session");
    add(params.no_spawn, "--no-spawn");
    add(params.ask_trust, "ask_trust");
    add(!params.trust.empty(), "trust");
    add(params.add_project, "add_project");
    return chosen;
}

}  // namespace

Result<void> complete_for_agent(const World& world, TaskCreate& params, const Caller& by) {
    if (!is_agent(by)) return {};
    TRY(const auto parent, world.tasks.read(by.task));
    if (params.parent) {
        TRY(const auto named, world.tasks.resolve(*params.parent, store::Naming::id_or_branch));
        params.parent = named.value;
    }
    TRY(const auto project, registered_project(world, parent->task.project));
    TRY(engine::may_create_subtask(*parent, by, *settings_of(world, project).delegation,
                                   chosen_by_humans(params, *parent, project)));
    const auto& task = parent->task;
    params.parent = task.id.value;
    params.workflow = task.workflow;
    // Effort and model are inherited only for the same program, because another program has other values.
    const bool same_program = !params.harness || *params.harness == task.harness;
    if (!params.effort && same_program) params.effort = task.effort;
    if (same_program) params.model = task.model.value_or("");
    if (!params.harness) params.harness = task.harness;
    params.review_harness = task.review_harness;
    params.review_effort = task.review_effort;
    params.review_model = task.review_model.value_or("");
    if (!params.permissions) params.permissions = task.permissions;
    if (!params.permissions && *params.harness != task.harness) {
        // The workflow may reduce the permissions. Set them here, so that a program without reduced permissions is
        // refused.
        TRY(const auto definition, world.workflows.pinned(task.workflow, task.workflow_hash));
        if (permissions_of(*definition, task, Role::worker) == "reduced") params.permissions = "reduced";
    }
    return {};
}

Result<void> take_parent(const World& world, TaskCreate& params) {
    if (!params.parent) return {};
    TRY(const auto id, world.tasks.resolve(*params.parent, store::Naming::id_or_branch));
    const std::string& project = world.tasks.brief(id)->project;
    if (params.project && *params.project != project) {
        return {ErrorCode::invalid_argument,
                "a sub-task belongs to the project of its parent, " + project + ", not to " + *params.project};
    }
    params.parent = id.value;
    params.project = project;
    return {};
}

Result<void> join_parent(const World& world, const TaskCreate& params, TaskRecord& record, const Caller& by) {
    if (!params.parent) return {};
    TRY(const auto parent, world.tasks.read({*params.parent}));
    if (!is_agent(by)) return adopt(world, record, *parent);
    for (const auto& id : record.task.blocked_by) {
        const auto* blocker = world.tasks.brief(id);
        if (blocker && blocker->parent == parent->task.id) continue;
        return engine::may_not_wait_for(id, by);
    }
    const auto* project = world.projects.find(parent->task.project);
    record.unapproved = project && *settings_of(world, *project).delegation == "ask";
    return adopt(world, record, *parent);
}

std::string context_of(const World& world, const TaskCreate& params, const Caller& by) {
    auto context = params.context.value_or("");
    if (!is_agent(by)) return context;
    return "A sub-task of task " + world.tasks.short_id(by.task) + ", described by the worker of that task.\n" +
           (context.empty() ? "" : "\n" + context);
}

}  // namespace orange::rpc
