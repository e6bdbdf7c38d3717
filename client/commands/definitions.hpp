#pragma once

#include <string>

#include "client/commands/context.hpp"

/// Workflows and harnesses.
namespace orange::commands {

int workflow_list(Context& context);
/// `source`: the file's text instead of its transitions.
int workflow_show(Context& context, const std::string& name, bool source);
/// Status 1 where the file has problems, which are printed as file:line:column.
int workflow_validate(Context& context, const std::string& file);
int harness_list(Context& context);

}  // namespace orange::commands
