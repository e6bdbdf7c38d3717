#pragma once

#include "client/commands/context.hpp"
#include "common/rpc/harness_methods.hpp"

/// Agent programs.
namespace orange::commands {

int harness_list(Context& context, rpc::HarnessList params);
/// `source`: the file's text instead of its command lines.
int harness_show(Context& context, const rpc::HarnessShow& params, bool source);
/// Shows what would be written, and asks; `yes` has said so in advance. Without a terminal and without `yes` nothing is
/// written.
int harness_trust(Context& context, rpc::HarnessTrust params, bool yes);

}  // namespace orange::commands
