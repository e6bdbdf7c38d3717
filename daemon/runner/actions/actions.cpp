#include "daemon/runner/actions/actions.hpp"

#include <map>

#include "daemon/engine/decide.hpp"
#include "daemon/runner/project_names.hpp"

namespace orange::actions {

Function find(std::string_view name) {
    static const std::map<std::string_view, Function> vocabulary = {
        {"acquire_workspace", acquire_workspace},
        {"release_workspace", release_workspace},
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
        {"run_command", run_command},
        {k_retire_branch, retire_branch},
    };
    const auto found = vocabulary.find(name);
    return found == vocabulary.end() ? nullptr : found->second;
}

Result<Project> project_of(const Context& context) {
    return registered_project(context.world, context.record.task.project);
}

}  // namespace orange::actions
