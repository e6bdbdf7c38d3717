#pragma once

#include <string>

#include "client/output/terminal.hpp"
#include "common/rpc/harness_methods.hpp"

/// Pages about agent programs. Pure, printable.
namespace orange::output {

std::string harnesses_page(const rpc::HarnessList::Reply& reply, const Style& style);
std::string harness_page(const rpc::HarnessShow::Reply& reply, const Style& style);

/// Which keys of which file, and what is there already.
std::string trust_page(const rpc::HarnessTrust::Reply& reply, const Style& style);
bool is_trusted(const rpc::HarnessTrust::Reply& reply);
bool has_conflict(const rpc::HarnessTrust::Reply& reply);

}  // namespace orange::output
