#pragma once

#include "client/commands/context.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/workspace_methods.hpp"

namespace orange::commands {

/// `params.path`: the repository, relative to the caller's directory.
Status project_add(Context& context, rpc::ProjectAdd params);
Status project_list(Context& context);
/// `set`: settings in the form KEY=VALUE.
Status project_update(Context& context, rpc::ProjectUpdate params, const std::vector<std::string>& set);
Status project_remove(Context& context, rpc::ProjectRemove params);

Status workspace_init(Context& context, rpc::WorkspaceInit params);
Status workspace_list(Context& context, rpc::WorkspaceList params);
Status workspace_gc(Context& context, rpc::WorkspaceGc params);

}  // namespace orange::commands
