#include "daemon/engine/permissions.hpp"

#include <algorithm>

namespace orange::engine {
namespace {

Error refused(const std::string& why, const Caller& by, const std::string& instead = {}) {
    return {ErrorCode::forbidden, why + "; you were taken for " + describe(by) + instead};
}

}  // namespace

std::string describe(const Caller& caller) {
    auto text =
        caller.role == Role::unknown ? std::string("an unknown caller") : "the " + std::string(name_of(caller.role));
    if (!caller.task.empty()) text += " of task " + caller.task.value;
    if (!caller.evidence.empty()) text += " (" + caller.evidence + ")";
    return text;
}

Result<void> may_call(const std::string& method, Access access, const Caller& by) {
    if (access == Access::read) return {};
    if (by.role == Role::unknown) {
        return refused(method + " wants a caller that can be told", by,
                       "; use a terminal of your own, outside Orange's tmux");
    }
    if (access == Access::human && by.role != Role::human) {
        return refused(method + " is a human's to call", by, "; ask the human");
    }
    return {};
}

Result<void> may_set(const Edit& edit, const Caller& by) {
    if (by.role == Role::human || edit.is_an_agents()) return {};
    return refused("an agent may set --status, --summary and --branch of its task; the rest is the human's", by);
}

Result<void> may_change(const TaskRecord& record, const Caller& by, bool force) {
    if (by.role != Role::worker && by.role != Role::reviewer) return {};
    if (by.task != record.task.id) return refused("an agent may move its own task only", by);
    const auto* reviewer = record.run_of(Role::reviewer);
    if (by.role == Role::reviewer && (!reviewer || reviewer->run != by.run)) {
        return refused("this review round is over: its reviewer was ended, or another was started since", by);
    }
    const auto* worker = record.run_of(Role::worker);
    // Who calls is found out once a connection, and that may outlive the run: a new one would be nobody's.
    if (by.role == Role::worker && !by.run.empty() && (!worker || worker->run != by.run)) {
        return refused(worker ? "another worker was started in this one's place since" : "this worker's run is over",
                       by);
    }
    if (force) return refused("--force is a human's; ask them", by);
    return {};
}

Result<void> may_change_workflow(const Caller& by) {
    if (by.role == Role::human) return {};
    return Error(ErrorCode::forbidden, "only a human moves a task to another workflow");
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

bool may_ask(const Transition& transition, Role role) {
    const auto roles = askers(transition);
    return std::find(roles.begin(), roles.end(), role) != roles.end();
}

}  // namespace orange::engine
