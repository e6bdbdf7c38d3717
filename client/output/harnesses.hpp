#pragma once

#include <string>

#include "client/output/terminal.hpp"
#include "common/rpc/harness_methods.hpp"

/// Pages about agent programs. Pure, printable.
namespace orange::output {

std::string harnesses_page(const rpc::HarnessList::Reply& reply, const Style& style);
std::string harness_page(const rpc::HarnessShow::Reply& reply, const Style& style);
/// What was found on a screen, what follows from it, and what else was looked for.
std::string explanation_page(const rpc::HarnessExplain::Reply& reply, const Style& style);

/// What the program is given or wants to find.
std::string trust_page(const rpc::HarnessTrust::Reply& reply, const Style& style);

}  // namespace orange::output
