#pragma once

#include "client/commands/context.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/workspace_methods.hpp"

namespace orange::commands {

/// `params.path`: the repository, relative to the caller's directory.
int project_add(Context& context, rpc::ProjectAdd params);
int project_list(Context& context);
/// `set`: settings in the form KEY=VALUE.
int project_update(Context& context, rpc::ProjectUpdate params, const std::vector<std::string>& set);
int project_remove(Context& context, rpc::ProjectRemove params);

int workspace_init(Context& context, rpc::WorkspaceInit params);
int workspace_list(Context& context, rpc::WorkspaceList params);
int workspace_gc(Context& context, rpc::WorkspaceGc params);

}  // namespace orange::commands
