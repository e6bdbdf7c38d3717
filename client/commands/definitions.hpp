#pragma once

#include <string>

#include "client/commands/context.hpp"
#include "common/rpc/workflow_methods.hpp"

/// The commands about workflows.
namespace orange::commands {

Status workflow_list(Context& context);
/// `source`: prints the file's text instead of its transitions.
Status workflow_show(Context& context, const std::string& name, bool source);
/// `format`: text, mermaid or dot.
Status workflow_graph(Context& context, const std::string& name, const std::string& format);
Status workflow_export(Context& context, const rpc::WorkflowExport& params);
/// Prints the file's problems as file:line:column; status 1 if there are any.
Status workflow_validate(Context& context, const std::string& file);

}  // namespace orange::commands
