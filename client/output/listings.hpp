#pragma once

#include <string>

#include "client/output/terminal.hpp"
#include "common/rpc/daemon_methods.hpp"
#include "common/rpc/project_methods.hpp"
#include "common/rpc/workflow_methods.hpp"
#include "common/rpc/workspace_methods.hpp"

/// Pages about projects, workspaces, workflows and the daemon. Pure, printable.
namespace orange::output {

std::string projects_page(const rpc::ProjectList::Reply& reply, const Style& style);
std::string project_page(const rpc::ProjectReply& reply, const Style& style);
std::string workspaces_page(const rpc::WorkspaceReply& reply, const Style& style);
std::string workflows_page(const rpc::WorkflowList::Reply& reply, const Style& style);
std::string export_page(const rpc::WorkflowExport::Reply& reply);
std::string workflow_page(const rpc::WorkflowShow::Reply& reply, const Style& style);
std::string validation_page(const std::string& file, const rpc::WorkflowValidate::Reply& reply);
std::string daemon_page(const rpc::DaemonStatus::Reply& reply, const Style& style);

}  // namespace orange::output
