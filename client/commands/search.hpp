#pragma once

#include "client/commands/context.hpp"
#include "common/rpc/search_methods.hpp"

namespace orange::commands {

/// Prints the hits of a search page by page, as they come; with --json a line for each.
Status task_search(Context& context, rpc::TaskSearch params);

}  // namespace orange::commands
