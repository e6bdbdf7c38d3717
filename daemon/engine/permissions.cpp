#include "daemon/engine/permissions.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::engine {
namespace {

Error refused(const std::string& why, const Caller& by, const std::string& instead = {}) {
    auto text = why + "; this call came from " + describe(by) + instead;
    if (by.evidence == k_socket_evidence) {
        text +=
            ". If this is a human's shell, it has an agent's variables. Remove them:\n"
            "  unset ORANGE_SOCKET ORANGE_TASK";
    }
    return {ErrorCode::forbidden, std::move(text)};
}

}  // namespace

std::span<const BehindWallRule> behind_wall_rules() {
    using enum BehindWall;
    static constexpr BehindWallRule k_rules[] = {
        {"daemon.caller", all},      {"daemon.ping", all},     {"events.list", family}, {"events.subscribe", family},
        {"events.unsubscribe", all}, {"file.put", all},        {"harness.list", all},   {"permit.ask", own},
        {"project.list", brief},     {"rpc.discover", all},    {"task.complete", own},  {"task.create", own},
        {"task.diff", family},       {"task.history", family}, {"task.list", brief},    {"task.log", own},
        {"task.peek", own},          {"task.search", family},  {"task.show", family},   {"task.stuck", own},
        {"task.update", own},        {"task.verify", family},  {"task.wait", family},   {"task.why", family},
        {"workflow.graph", all},     {"workflow.list", all},   {"workflow.show", all},  {"workflow.validate", all},
    };
    return k_rules;
}

BehindWall behind_wall(std::string_view method) {
    const auto rules = behind_wall_rules();
    const auto rule = std::ranges::find(rules, method, &BehindWallRule::method);
    return rule == rules.end() ? BehindWall::nothing : rule->shows;
}

Error hidden_by_wall(const std::string& what) {
    return {ErrorCode::forbidden,
            what + " is hidden from an agent behind a wall, which sees its own task, its parent and its sub-tasks"};
}

std::string describe(const Caller& caller) {
    auto text = caller.role == Role::unknown ? std::string("an unknown caller") : "the " + name_text(caller.role);
    if (!caller.task.empty()) text += " of task " + caller.task.value;
    if (!caller.evidence.empty()) text += " (" + caller.evidence + ")";
    return text;
}

Result<void> may_call(const std::string& method, Access access, const Caller& by) {
    if (access == Access::read) return {};
    if (by.role == Role::unknown) {
        return refused(method + " needs a caller that Orange can identify", by,
                       ". Run it in a terminal outside Orange's tmux");
    }
    if (access == Access::human && by.role != Role::human) {
        return refused("only a human may call " + method, by, ". Ask the human");
    }
    return {};
}

Result<void> may_set(const Edit& edit, const Caller& by) {
    if (by.role == Role::human || edit.is_an_agents()) return {};
    return refused("an agent may set only --status, --summary and --branch of its task", by);
}

Result<void> may_change(const TaskRecord& record, const Caller& by, bool force) {
    if (by.role != Role::worker && by.role != Role::reviewer) return {};
    if (by.task != record.task.id) return refused("an agent may change only its own task", by);
    const auto* reviewer = record.run_of(Role::reviewer);
    if (by.role == Role::reviewer && (!reviewer || reviewer->run != by.run)) {
        return refused("this review round has ended, and its reviewer may not change the task any more", by);
    }
    const auto* worker = record.run_of(Role::worker);
    // The caller is identified once per connection, which may outlive the run.
    if (by.role == Role::worker && !by.run.empty() && (!worker || worker->run != by.run)) {
        return refused(worker ? "another worker has replaced this one" : "this worker's run has ended", by);
    }
    if (force) return refused("only a human may use --force", by);
    return {};
}

Result<void> may_create_subtask(const TaskRecord& parent, const Caller& by, std::string_view delegation,
                                const std::vector<std::string>& chosen) {
    if (by.role != Role::worker) return refused("only the worker of a task may create sub-tasks of it", by);
    TRY(may_change(parent, by, false));
    if (delegation == "off") {
        return refused("project " + parent.task.project + " does not let agents create sub-tasks (delegation is off)",
                       by);
    }
    if (chosen.empty()) return {};
    return refused("an agent may not choose " + join(chosen, ", ") + " for a sub-task", by,
                   ". Omit " + std::string(chosen.size() == 1 ? "it" : "them") + ", or ask the human");
}

Error may_not_wait_for(const TaskId& other, const Caller& by) {
    return refused("a sub-task that an agent creates may wait only for sub-tasks of the same task, and " + other.value +
                       " is none",
                   by);
}

Result<void> may_change_workflow(const Caller& by) {
    if (by.role == Role::human) return {};
    return Error(ErrorCode::forbidden, "only a human may move a task to another workflow");
}

std::vector<Role> askers(const Transition& transition) {
    std::vector<Role> roles = transition.by;
    if (roles.empty() && transition.force) roles = {Role::human, Role::system};
    if (roles.empty()) {
        roles = {Role::worker, Role::reviewer, Role::human, Role::system};
        if (transition.gate && transition.gate->verdict) roles.erase(roles.begin());
    }
    std::erase(roles, Role::unknown);
    return roles;
}

bool is_free(const Transition& transition) {
    return may_ask(transition, Role::system) && !transition.force && !transition.gate && !transition.when;
}

bool may_ask(const Transition& transition, Role role) {
    const auto roles = askers(transition);
    return std::find(roles.begin(), roles.end(), role) != roles.end();
}

}  // namespace orange::engine
