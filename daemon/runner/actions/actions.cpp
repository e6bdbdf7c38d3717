#include "daemon/runner/actions/actions.hpp"

#include <algorithm>

#include "daemon/engine/decide.hpp"

namespace orange::actions {

const std::vector<Entry>& entries() {
    static const std::vector<Entry> all = {
        {"acquire_workspace", acquire_workspace},
        {"release_workspace", release_workspace, Durability::synced},  // another task has the workspace by then
        {"spawn_agent", spawn_agent},
        {"spawn_reviewer", spawn_agent},
        {engine::k_ensure_agent, ensure_agent},
        {"kill_session", kill_session},
        {"kill_reviewer", kill_reviewer},
        {"notify_worker", notify_worker},
        {"notify", notify},
        {"spawn_next", spawn_next},
        {"push_branch", push_branch},
        {"create_pr", create_pr},
        {"delete_remote_branch", delete_remote_branch},
        {"run_command", run_command, Durability::synced},  // a second run cannot be recognised
        {k_retire_branch, retire_branch},
    };
    return all;
}

const Entry* find(std::string_view name) {
    const auto found = std::ranges::find(entries(), name, &Entry::name);
    return found == entries().end() ? nullptr : &*found;
}

Result<Project> project_of(const Context& context) {
    return registered_project(context.world, context.record.task.project);
}

}  // namespace orange::actions
