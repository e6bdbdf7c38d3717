#pragma once

#include <string>

#include "client/commands/context.hpp"
#include "common/rpc/workflow_methods.hpp"

/// Workflows.
namespace orange::commands {

int workflow_list(Context& context);
/// `source`: the file's text instead of its transitions.
int workflow_show(Context& context, const std::string& name, bool source);
/// `format` is text, mermaid or dot.
int workflow_graph(Context& context, const std::string& name, const std::string& format);
int workflow_export(Context& context, const rpc::WorkflowExport& params);
/// Status 1 where the file has problems, which are printed as file:line:column.
int workflow_validate(Context& context, const std::string& file);

}  // namespace orange::commands
